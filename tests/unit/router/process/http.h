// SPDX-License-Identifier: BSD-3-Clause
// A request to a server of this machine, and all that it answers.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace surety::test {

inline std::string get(int port, const std::string& path, const std::string& headers = "",
                       const std::string& host = "localhost", const std::string& method = "GET") {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const std::string request =
      method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + headers + "\r\n";
  EXPECT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string reply, part(65536, '\0');
  for (ssize_t n; (n = recv(fd, part.data(), part.size(), 0)) > 0;)
    reply.append(part, 0, static_cast<std::size_t>(n));
  close(fd);
  return reply;
}

}  // namespace surety::test
