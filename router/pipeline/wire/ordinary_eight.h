// SPDX-License-Identifier: BSD-3-Clause
// Parses eight ordinary packets at once: replaces the branches of OrdinaryParser (parse_ordinary.h) by masks,
// at the cost of one packet.
//
// The first 48 bytes of eight frames are transposed so that a register holds the same four bytes of all.
// Names are offsets in the frame: w16 is bytes 16 to 19, as loaded.
#pragma once

#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "router/pipeline/wire/parse_ipv4.h"
#include "router/pipeline/wire/parse_ipv6.h"

namespace surety {

// A parser for one port; valid for a burst.
class OrdinaryEight {
 public:
  static constexpr std::size_t kPackets = 8;
  // Bytes read of each frame. Ethernet frames have 60 at least; those of virtual devices may have less.
  static constexpr std::size_t kLeast = 48, kLeast6 = 60;
  using Frames = std::array<const std::uint8_t*, kPackets>;

  struct Found {
    std::uint32_t v4 = 0, v6 = 0;  // one bit each: ordinary; for IPv6 except the checks of write6()
    // The upper half of the key's rest.
    alignas(32) std::array<std::uint32_t, kPackets> class_and_port;
  };

  explicit OrdinaryEight(const ParseContext& context)
      : station_(detail::own_mac(context)), terms_(context), match_dscp_(context.match_dscp) {}

  // True if all frames are long enough to be read.
  static bool reads(__m256i sizes) { return bits(_mm256_cmpgt_epi32(all(kLeast), sizes)) == 0; }
  static bool reads6(__m256i sizes) { return bits(_mm256_cmpgt_epi32(all(kLeast6), sizes)) == 0; }
  // Checks eight frames; `sizes`: their lengths as 32-bit numbers.
  [[gnu::always_inline]] Found check(const Frames& frames, __m256i sizes) const {
    const Lanes w = lanes(frames);
    const __m256i available = _mm256_sub_epi32(sizes, all(detail::kEthernetHeader)), ours = to_us(w);
    Found found;
    const __m256i protocol = _mm256_srli_epi32(w.w20, 24);
    const __m256i tcp = _mm256_cmpeq_epi32(protocol, all(detail::kTcp));
    store_class(tcp, found);
    found.v4 = bits(both(both(ours, shape4(w)), both(addresses4(w), lengths4(w, protocol, tcp, available))));
    if (found.v4 == 0xff || !reads6(sizes)) [[likely]]
      return found;
    const Rows fourth(frames, 44);
    const __m256i protocol6 = both(w.w20, all(0xff));
    const __m256i tcp6 = _mm256_cmpeq_epi32(protocol6, all(detail::kTcp));
    store_class(_mm256_blendv_epi8(tcp, tcp6, equal(w.w12, 0xffff, 0xdd86)), found);
    found.v6 = bits(both(ours, ordinary6(w, fourth.word3(), protocol6, tcp6, available)));
    return found;
  }
  // Checks eight frames as IPv6 only; reads6() must be true.
  [[gnu::always_inline]] Found check6(const Frames& frames, __m256i sizes) const {
    const Lanes w = lanes(frames);
    const Rows fourth(frames, 44);
    const __m256i available = _mm256_sub_epi32(sizes, all(detail::kEthernetHeader));
    const __m256i protocol = both(w.w20, all(0xff));
    const __m256i tcp = _mm256_cmpeq_epi32(protocol, all(detail::kTcp));
    Found found;
    store_class(tcp, found);
    found.v6 = bits(both(to_us(w), ordinary6(w, fourth.word3(), protocol, tcp, available)));
    return found;
  }

  // Writes an ordinary IPv4 packet as OrdinaryParser does.
  [[gnu::always_inline]] void write4(const std::uint8_t* frame, std::uint32_t class_and_port,
                                     ParsedPacket& out) const {
    constexpr char no = -1;
    const std::uint8_t* const ip = frame + detail::kEthernetHeader;
    const __m128i front = _mm_shuffle_epi8(
        load16(ip), _mm_setr_epi8(3, 2, no, no, no, no, no, no, no, 9, 1, 8, no, no, no, no));
    const __m128i back = _mm_shuffle_epi8(
        load16(ip + 8), _mm_setr_epi8(12, 13, 14, 15, no, no, no, no, 4, 5, 6, 7, 8, 9, 10, 11));
    constexpr std::uint64_t kL4 = std::uint64_t{detail::kEthernetHeader + 20} << 48;
    auto* const to = reinterpret_cast<std::uint8_t*>(&out);
    store16(to, _mm_insert_epi32(back, static_cast<int>(class_and_port), 1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 16), _mm256_setzero_si256());
    store16(to + 48, _mm_or_si128(front, pair(kL4, terms_.interface | detail::kEthernetHeader)));
    if (match_dscp_) out.key.dscp = out.traffic_class >> 2;
  }

  // Writes an ordinary IPv6 packet; false: it is not ordinary.
  [[gnu::always_inline]] bool write6(const std::uint8_t* frame, std::uint32_t class_and_port,
                                     ParsedPacket& out) const {
    constexpr char no = -1;
    constexpr std::size_t kIp = 40;
    const std::uint8_t* const ip = frame + detail::kEthernetHeader;
    const __m128i head = load16(ip);
    if (_mm_testz_si128(all_ones(), _mm_xor_si128(load16(ip + 8), load16(ip + 24)))) [[unlikely]]
      return false;
    if (ip[6] == detail::kTcp && !detail::tcp_or_udp_fits(true, ip + kIp, load_be16(ip + 4))) [[unlikely]]
      return false;
    const auto traffic_class = static_cast<std::uint8_t>(load_be16(ip) >> 4);
    const __m128i words =
        _mm_shuffle_epi8(head, _mm_setr_epi8(5, 4, no, no, no, no, no, no, no, 6, no, 7, no, no, no, no));
    constexpr std::uint64_t kLengths = kIp | std::uint64_t{detail::kEthernetHeader + kIp} << 48;
    constexpr std::uint64_t kV6 = std::uint64_t{1} << 32;
    const __m128i added = pair(kLengths, terms_.interface | kV6 | detail::kEthernetHeader);
    const __m256i addresses = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ip));
    const __m128i rest = _mm_insert_epi32(_mm_cvtsi32_si128(load<std::int32_t>(ip + kIp)),
                                          static_cast<int>(class_and_port), 1);
    auto* const to = reinterpret_cast<std::uint8_t*>(&out);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_blend_epi32(addresses, _mm256_castsi128_si256(rest), 3));
    out.key.address[3] = load<std::uint64_t>(ip + 32);
    store(to + offsetof(FlowKey, dscp), std::uint64_t{0x100} | key_dscp(terms_, traffic_class));
    store16(to + 48, _mm_insert_epi8(_mm_add_epi16(words, added), traffic_class, 10));
    return true;
  }

 private:
  // 16 bytes of each frame: two frames in a register, then four bytes of each of them beside each other.
  struct Rows {
    Rows(const Frames& frames, std::size_t at) {
      const auto row = [&](std::size_t i) {
        return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(frames[i] + at)),
                                       load16(frames[i + 4] + at), 1);
      };
      const __m256i r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
      low01 = _mm256_unpacklo_epi32(r0, r1);
      low23 = _mm256_unpacklo_epi32(r2, r3);
      high01 = _mm256_unpackhi_epi32(r0, r1);
      high23 = _mm256_unpackhi_epi32(r2, r3);
    }
    __m256i word0() const { return _mm256_unpacklo_epi64(low01, low23); }
    __m256i word1() const { return _mm256_unpackhi_epi64(low01, low23); }
    __m256i word2() const { return _mm256_unpacklo_epi64(high01, high23); }
    __m256i word3() const { return _mm256_unpackhi_epi64(high01, high23); }
    __m256i low01, low23, high01, high23;
  };
  struct Lanes {
    __m256i w0, w4, w12, w16, w20, w24, w28, w32, w36, w44;
  };

  static __m128i load16(const std::uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static void store16(std::uint8_t* p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
  static __m128i pair(std::uint64_t low, std::uint64_t high) {
    return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
  }
  static __m256i all(std::uint64_t v) { return _mm256_set1_epi32(static_cast<int>(v)); }
  static __m256i both(__m256i a, __m256i b) { return _mm256_and_si256(a, b); }
  static __m256i either(__m256i a, __m256i b) { return _mm256_or_si256(a, b); }
  static __m128i all_ones() { return _mm_set1_epi32(-1); }
  static __m256i equal(__m256i v, std::uint32_t mask, std::uint32_t wanted) {
    return _mm256_cmpeq_epi32(both(v, all(mask)), all(wanted));
  }
  static std::uint32_t bits(__m256i lanes) {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
  }
  // The 16 bits in network order that begin at byte `at` of each lane.
  template <char at>
  static __m256i be16(__m256i v) {
    constexpr char no = -1, h = at, l = at + 1;
    return _mm256_shuffle_epi8(v, _mm256_setr_epi8(l, h, no, no, l + 4, h + 4, no, no, l + 8, h + 8, no, no,
                                                   l + 12, h + 12, no, no, l, h, no, no, l + 4, h + 4, no, no,
                                                   l + 8, h + 8, no, no, l + 12, h + 12, no, no));
  }

  [[gnu::always_inline]] static Lanes lanes(const Frames& frames) {
    const Rows first(frames, 0), second(frames, 16), third(frames, 32);
    return {first.word0(),  first.word1(),  first.word3(), second.word0(), second.word1(),
            second.word2(), second.word3(), third.word0(), third.word1(),  third.word3()};
  }
  [[gnu::always_inline]] __m256i to_us(const Lanes& w) const {
    return both(_mm256_cmpeq_epi32(w.w0, all(static_cast<std::uint32_t>(station_))),
                _mm256_cmpeq_epi32(both(w.w4, all(0xffff)), all(station_ >> 32)));
  }

  void store_class(__m256i tcp, Found& found) const {
    const __m256i classes = _mm256_blendv_epi8(all(0x40000000), all(0x20000000), tcp);
    _mm256_store_si256(reinterpret_cast<__m256i*>(found.class_and_port.data()),
                       either(classes, all(terms_.port >> 32)));
  }

  // IPv4, version and IHL, no fragment, checksum.
  [[gnu::always_inline]] static __m256i shape4(const Lanes& w) {
    const __m256i head = equal(w.w12, 0x00ffffff, 0x00450008), place = equal(w.w20, 0xff3f, 0);
    return both(both(head, place), checksum4(w));
  }
  // The words of the header sum up to a multiple of 65535. They are added in pairs, as signed numbers, which
  // those less 2^15 are.
  [[gnu::always_inline]] static __m256i checksum4(const Lanes& w) {
    const __m256i bias = all(0x80008000), one = all(0x00010001);
    const auto pairs = [&](__m256i v) { return _mm256_madd_epi16(_mm256_xor_si256(v, bias), one); };
    const __m256i ends = _mm256_blend_epi16(w.w32, w.w12, 0xaa);
    __m256i sum = _mm256_add_epi32(pairs(ends), all(5 << 16));
    for (const __m256i v : {w.w16, w.w20, w.w24, w.w28}) sum = _mm256_add_epi32(sum, pairs(v));
    const __m256i folded =
        _mm256_add_epi32(_mm256_blend_epi16(sum, _mm256_setzero_si256(), 0xaa), _mm256_srli_epi32(sum, 16));
    return _mm256_cmpeq_epi32(folded, all(0xffff));
  }
  // Source and destination differ, and both are ordinary by their first byte (ipv4::kOrdinary): otherwise the
  // table entries of the byte's two halves have a bit in common.
  [[gnu::always_inline]] static __m256i addresses4(const Lanes& w) {
    const __m256i same = _mm256_cmpeq_epi32(_mm256_blend_epi16(w.w32, w.w24, 0xaa), w.w28);
    const __m256i first = _mm256_blend_epi16(_mm256_srli_epi32(w.w24, 16), w.w28, 0xaa);
    constexpr char zero = 1, loop = 2, local = 4, many = 8;  // 0, 127, 169, 224 and above
    const __m256i by_low =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(many | zero, many, many, many, many, many, many, many, many,
                                                  many | local, many, many, many, many, many, many | loop));
    const __m256i by_high = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(zero, 0, 0, 0, 0, 0, 0, loop, 0, 0, local, 0, 0, 0, many, many));
    const __m256i half = all(0x000f000f);
    const __m256i common = both(_mm256_shuffle_epi8(by_low, both(first, half)),
                                _mm256_shuffle_epi8(by_high, both(_mm256_srli_epi32(first, 4), half)));
    return _mm256_andnot_si256(same, equal(common, 0x00ff00ff, 0));
  }
  // TCP or UDP, with the length in its header and the packet's length within the frame.
  [[gnu::always_inline]] static __m256i lengths4(const Lanes& w, __m256i protocol, __m256i tcp,
                                                 __m256i available) {
    const __m256i udp = _mm256_cmpeq_epi32(protocol, all(detail::kUdp));
    const __m256i length = be16<0>(w.w16);
    const __m256i tcp_header = both(_mm256_srli_epi32(w.w44, 18), all(0x3c));
    const __m256i stated = _mm256_blendv_epi8(be16<2>(w.w36), tcp_header, tcp);
    const __m256i least = _mm256_blendv_epi8(all(8), all(20), tcp);
    const __m256i beyond = either(either(_mm256_cmpgt_epi32(least, stated),
                                         _mm256_cmpgt_epi32(stated, _mm256_sub_epi32(length, all(20)))),
                                  _mm256_cmpgt_epi32(length, available));
    return _mm256_andnot_si256(beyond, either(tcp, udp));
  }

  // `w56`: its second half is UDP's length. First bytes of addresses as in ipv6::ordinary().
  [[gnu::always_inline]] static __m256i ordinary6(const Lanes& w, __m256i w56, __m256i protocol, __m256i tcp,
                                                  __m256i available) {
    const __m256i udp = _mm256_cmpeq_epi32(protocol, all(detail::kUdp));
    const __m256i payload = be16<2>(w.w16), stated = be16<2>(w56);
    const __m256i udp_fits = _mm256_andnot_si256(_mm256_cmpgt_epi32(stated, payload),
                                                 both(udp, _mm256_cmpgt_epi32(stated, all(7))));
    const __m256i first =
        both(_mm256_blend_epi16(_mm256_srli_epi32(w.w20, 16), w.w36, 0xaa), all(0x00ff00ff));
    const __m256i odd =
        either(_mm256_cmpeq_epi16(first, _mm256_setzero_si256()), _mm256_cmpgt_epi16(first, all(0x00fd00fd)));
    const __m256i fits = _mm256_cmpgt_epi32(available, _mm256_add_epi32(payload, all(39)));
    return both(both(equal(w.w12, 0x00f0ffff, 0x0060dd86), _mm256_cmpeq_epi32(odd, _mm256_setzero_si256())),
                both(fits, either(tcp, udp_fits)));
  }

  std::uint64_t station_;
  detail::KeyTerms terms_;
  bool match_dscp_;
};

}  // namespace surety
