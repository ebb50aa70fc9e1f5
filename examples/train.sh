#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A job on two GPUs.
exec python3 "$(dirname "$0")/train.py"
