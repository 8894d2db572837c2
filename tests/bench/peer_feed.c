// SPDX-License-Identifier: BSD-3-Clause
// The feed of `surety bench`, for DPDK's example programs: linked into them by peers.py, which has the linker
// send their calls of rte_eth_dev_start() here.
//
// Port 0 is a net_null with copy=0: each receive fills its buffers with the next 64 bytes of a table of
// flows, as router/daemon/bench/bench_traffic.cc does. What the other ports transmit is counted: for each
// PEER_BLOCK packets a line goes to the file descriptor PEER_FD with the TSC cycles per packet and the share
// of the fed packets that left there. (l3fwd sends what its table does not know back by port 0.) In the
// environment: PEER_FLOWS; PEER_PIPES, if the frames are to carry two VLAN tags, the inner one a pipe's
// number (qos_sched); PEER_RULES, a file to write l3fwd's exact-match rules to.
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUTES 65536u  // 16.0.0.0 + i /24
#define FRAME 60u      // 64 bytes on the wire, of which 4 are the FCS

struct frame {
  uint8_t bytes[64];
};
static struct frame* frames;
static uint32_t count, pipes;
static uint64_t block = 4000000;
static int report_fd = -1;
// What the receiving and the transmitting thread write, a line each: qos_sched has two.
static _Alignas(64) struct {
  uint64_t fed;
  uint32_t next_frame;
} rx;
static _Alignas(64) struct { uint64_t transmitted, block_start, fed_before; } tx;

static uint64_t environment(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static uint32_t scramble(uint32_t i) {
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  return (uint32_t)(z >> 32);
}

static void put16(uint8_t* p, uint32_t v) {
  p[0] = (uint8_t)(v >> 8);
  p[1] = (uint8_t)v;
}
static void put32(uint8_t* p, uint32_t v) {
  put16(p, v >> 16);
  put16(p + 2, v);
}

static uint16_t checksum(const uint8_t* header) {
  uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += (uint32_t)(header[i] << 8 | header[i + 1]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return (uint16_t)~sum;
}

struct flow {
  uint32_t source, destination;
  uint16_t source_port, destination_port;
};
static struct flow flow_of(uint32_t i) {
  const uint32_t r = scramble(i);
  return (struct flow){10u << 24 | (i & 0xffffff), 16u << 24 | (r % ROUTES) << 8 | r >> 24,
                       (uint16_t)(1024 + i % 60000), 5001};
}

static void make(uint8_t* frame, uint32_t i) {
  const struct flow f = flow_of(i);
  frame[6] = 2;
  uint8_t* p = frame + 12;
  if (pipes > 0) {
    put16(p, 0x8100);
    put16(p + 4, 0x8100);
    put16(p + 6, i % pipes);
    p += 8;
  }
  put16(p, 0x0800);
  uint8_t* ip = p + 2;
  ip[0] = 0x45;
  put16(ip + 2, FRAME - (uint32_t)(ip - frame));
  ip[8] = 64;
  ip[9] = 17;
  put32(ip + 12, f.source);
  put32(ip + 16, f.destination);
  put16(ip + 10, checksum(ip));
  put16(ip + 20, f.source_port);
  put16(ip + 22, f.destination_port);
  put16(ip + 24, FRAME - (uint32_t)(ip - frame) - 20);
}

static void write_rules(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL) abort();
  for (uint32_t i = 0; i < count; ++i) {
    const struct flow f = flow_of(i);
    fprintf(file, "R%u.%u.%u.%u %u.%u.%u.%u %u %u 17 1\n", f.destination >> 24, f.destination >> 16 & 255,
            f.destination >> 8 & 255, f.destination & 255, f.source >> 24, f.source >> 16 & 255,
            f.source >> 8 & 255, f.source & 255, f.destination_port, f.source_port);
  }
  if (fclose(file) != 0) abort();
}

__attribute__((constructor)) static void prepare(void) {
  count = (uint32_t)environment("PEER_FLOWS", 1000);
  pipes = (uint32_t)environment("PEER_PIPES", 0);
  block = environment("PEER_BLOCK", block);
  report_fd = (int)environment("PEER_FD", 1);
  if (getenv("PEER_RULES") != NULL) write_rules(getenv("PEER_RULES"));
  const size_t bytes = count * sizeof *frames;
  frames = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (frames == MAP_FAILED) abort();
  madvise(frames, bytes, MADV_HUGEPAGE);
  for (uint32_t i = 0; i < count; ++i) make(frames[i].bytes, i);
}

static uint16_t fill(uint16_t port, uint16_t queue, struct rte_mbuf** mbufs, uint16_t n, uint16_t room,
                     void* unused) {
  (void)port, (void)queue, (void)room, (void)unused;
  uint32_t next = rx.next_frame;
  for (uint16_t i = 0; i < n; ++i) {
    rte_prefetch1(frames[next].bytes + n * sizeof *frames);
    memcpy(rte_pktmbuf_mtod(mbufs[i], void*), frames[next].bytes, 64);
    mbufs[i]->data_len = FRAME;
    mbufs[i]->pkt_len = FRAME;
    if (++next == count) next = 0;
  }
  rx.next_frame = next;
  rx.fed += n;
  return n;
}

static uint16_t tally(uint16_t port, uint16_t queue, struct rte_mbuf** mbufs, uint16_t n, void* unused) {
  (void)port, (void)queue, (void)mbufs, (void)unused;
  tx.transmitted += n;
  if (tx.transmitted < block) return n;
  const uint64_t now = rte_rdtsc(), fed = rx.fed;
  const double packets = (double)tx.transmitted;
  if (tx.block_start != 0)
    dprintf(report_fd, "%.2f %.4f\n", (double)(now - tx.block_start) / packets,
            packets / (double)(fed - tx.fed_before));
  tx.block_start = now;
  tx.fed_before = fed;
  tx.transmitted = 0;
  return n;
}

int __real_rte_eth_dev_start(uint16_t port);
int __wrap_rte_eth_dev_start(uint16_t port);
int __wrap_rte_eth_dev_start(uint16_t port) {
  const void* callback = port == 0 ? (const void*)rte_eth_add_rx_callback(port, 0, fill, NULL)
                                   : (const void*)rte_eth_add_tx_callback(port, 0, tally, NULL);
  if (callback == NULL) abort();
  return __real_rte_eth_dev_start(port);
}
