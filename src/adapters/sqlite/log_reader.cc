// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/log_reader.h"

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/stored_events.h"

namespace berth::adapters::sqlite {
namespace {

class SqliteLogReader final : public ports::LogReader {
  public:
    SqliteLogReader(Database database, Statement select)
        : database_(std::move(database)), select_(std::move(select)) {}

    base::Status read_events(std::int64_t after, std::int64_t limit,
                             const std::function<void(model::Event&&)>& visit) override {
        select_.bind(1, after).bind(2, limit);
        return visit_events(select_, visit);
    }

  private:
    Database database_;
    Statement select_;
};

}  // namespace

base::Result<std::unique_ptr<ports::LogReader>> open_log(const std::string& directory) {
    BERTH_TRY(database, Database::open_to_read(directory + "/berth.db"));
    BERTH_TRY(select,
              database.prepare(
                  "SELECT payload FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?"));
    return std::make_unique<SqliteLogReader>(std::move(database), std::move(select));
}

}  // namespace berth::adapters::sqlite
