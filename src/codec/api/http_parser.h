// SPDX-License-Identifier: Apache-2.0
//
// The parser of HTTP messages: Boost.Beast's, without the assertions that it makes of itself. One
// of them (in parse_chunk_header, up to Boost 1.83 at least) is wrong of a body without content
// whose last chunk arrives in pieces, so that three bytes and a pause would end the process. What
// it goes on to do is right. Errors of input are error codes, before as after.
#pragma once

#define BOOST_DISABLE_ASSERTS
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#undef BOOST_DISABLE_ASSERTS
#include <boost/assert.hpp>  // the others are as they were
