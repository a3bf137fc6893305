// SPDX-License-Identifier: Apache-2.0
// The right to issue calls, where no interpreter has a lock that stands for it: one mutex. A thread
// that has it may take it again, since what it releases may call us.
#pragma once

namespace afterglow::c_api {

class Right {
 public:
  Right();
  ~Right();
  Right(const Right&) = delete;
  Right& operator=(const Right&) = delete;
};

/// Others have it for a scope in which this thread waits.
class WithoutRight {
 public:
  WithoutRight();
  ~WithoutRight();
  WithoutRight(const WithoutRight&) = delete;
  WithoutRight& operator=(const WithoutRight&) = delete;

 private:
  const int depth_;
};

/// For the time in which a thread waits for the engine.
class Waiting {
 public:
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};
/// All threads that have called us and still exist do: nobody is there to issue anything.
bool all_wait();

/// Readies the process, once: the front end, forks, the end of the process.
void start();

}  // namespace afterglow::c_api
