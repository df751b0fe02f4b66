import Foundation

@testable import CassetteFormat
@testable import CassetteModel

/// Streams of real producers, all of the same JSON text, and seeded data for property tests.
enum CodingFixtures {
    static let json = """
        [{"id": 0, "name": "pet-0", "kind": "fish", "price": 94.79}, {"id": 1, "name": "pet-1", "kind": "bird", "price": 65.09}, \
        {"id": 2, "name": "pet-2", "kind": "cat", "price": 82.13}, {"id": 3, "name": "pet-3", "kind": "cat", "price": 36.57}, \
        {"id": 4, "name": "pet-4", "kind": "cat", "price": 90.97}, {"id": 5, "name": "pet-5", "kind": "dog", "price": 3.75}, \
        {"id": 6, "name": "pet-6", "kind": "bird", "price": 41.82}, {"id": 7, "name": "pet-7", "kind": "dog", "price": 9.07}, \
        {"id": 8, "name": "pet-8", "kind": "bird", "price": 5.91}, {"id": 9, "name": "pet-9", "kind": "cat", "price": 94.74}, \
        {"id": 10, "name": "pet-10", "kind": "cat", "price": 57.71}, {"id": 11, "name": "pet-11", "kind": "bird", "price": 4.96}]
        """
    static let content = Array(json.utf8)

    /// `gzip -1 -n`
    static let gzip1 = decode(
        """
        H4sIAAAAAAAEA33SywrCMBAF0F8pWdchk2fHXxEXta0aRC21O+m/24CQcYTu8jrckNzDW6Ve7StdV+rR3od1qMZh3mm1LtzSI++pc3pd83ycUpdPkINIS119LQqL\
        3J7S1HMbPGhmjbCG266dOW0MoC2xVlC7QW0AHwt1groNShqIUS+o57R/XviFLURfQoOQgUv5TA6hMcVGYSO3IpVAs/s2QjZcylQPhCWUBCVOxd/kSrhCUfYJfwol\
        sI8QWS7+FWqzUQ4oLMcPi3eieMkCAAA=
        """)
    /// `gzip -6 -n`
    static let gzip6 = decode(
        """
        H4sIAAAAAAAAA33SywrCMBAF0F8pWdchaZ7jr4iL2lYNopbanfTfbUHIOMLs8jrcMNzDW+Ve7StdV+rR3od1qcZh3mm1HtzyY7tT5/y6bvtxyt32Ah1EXOrqaw2z\
        htpTnnpqgwdNbMNsQ23XzpSmBowt1DJqBWoD+FioY9QJFDUgoZ5RT2n/vPykQvRFBiaDNCZnIDXFRmajkIqgyX8Tk0lK9YCmUGQUpSmtlXCkErxPRgvYR4gk1/wV\
        SmyUAwzL8QOLd6J4yQIAAA==
        """)
    /// `gzip -9 -n`; Python's `gzip.compress(…, mtime=0)` gives the same.
    static let gzip9 = decode(
        """
        H4sIAAAAAAACA33SywrCMBAF0F8pWdchaZ7jr4iL2lYNopbanfTfbUHIOMLs8jrcMNzDW+Ve7StdV+rR3od1qcZh3mm1HtzyY7tT5/y6bvtxyt32Ah1EXOrqaw2z\
        htpTnnpqgwdNbMNsQ23XzpSmBowt1DJqBWoD+FioY9QJFDUgoZ5RT2n/vPykQvRFBiaDNCZnIDXFRmajkIqgyX8Tk0lK9YCmUGQUpSmtlXCkErxPRgvYR4gk1/wV\
        SmyUAwzL8QOLd6J4yQIAAA==
        """)
    /// `gzip -6 -c named.json`: a header with a time and a name.
    static let gzipNamed = decode(
        """
        H4sICADxU2UAA25hbWVkLmpzb24AfdLLCsIwEAXQXylZ1yFpnuOviIvaVg2iltqd9N9tQcg4wuzyOtww3MNb5V7tK11X6tHeh3WpxmHeabUe3PJju1Pn/Lpu+3HK\
        3fYCHURc6uprDbOG2lOeemqDB01sw2xDbdfOlKYGjC3UMmoFagP4WKhj1AkUNSChnlFPaf+8/KRC9EUGJoM0JmcgNcVGZqOQiqDJfxOTSUr1gKZQZBSlKa2VcKQS\
        vE9GC9hHiCTX/BVKbJQDDMvxA4t3onjJAgAA
        """)
    /// Python's `zlib.compress`
    static let zlib = decode(
        """
        eJx90ssKwjAQBdBfKVnXIWme46+Ii9pWDaKW2p30321ByDjC7PI63DDcw1vlXu0rXVfq0d6HdanGYd5ptR7c8mO7U+f8um77ccrd9gIdRFzq6msNs4baU556aoMHTWzD\
        bENt186UpgaMLdQyagVqA/hYqGPUCRQ1IKGeUU9p/7z8pEL0RQYmgzQmZyA1xUZmo5CKoMl/E5NJSvWAplBkFKUprZVwpBK8T0YL2EeIJNf8FUpslAMMy/EDa4S7\
        VA==
        """)
    /// Node's `zlib.gzipSync`: from a zlib variant that ours does not reproduce.
    static let gzipNode = decode(
        """
        H4sIAAAAAAAAA33STQrCMBAF4KuErOuQ/2R6FXFR26pBrKV2J727FISMI2Q5ZD5eGN7xLfMgW6EaIafuMcpWyHlcD0o2Qt7ztL/JS37d9nlecr9voIOIWyO+VjOr\
        qT3nZaA2eFDEGmYNtX23UpoMaFuoZdRWqA3gY6GOUVehqAAJ9Yx6Sofn9ScVoi8yMBlqZ3Iakik2MhsrqQiK/DcxmWqpHlAXioxi7UoOoiOV4H3SqoJ9hEhy9V+h\
        qo1ygGE7fQCLd6J4yQIAAA==
        """)
    /// Python's `zlib.compressobj(6, 8, 31)`, flushed after every 200 bytes and at the end
    static let gzipFlushed = decode(
        """
        H4sIAAAAAAAAA4quVspMUbJSMNBRUMpLzE0FMpUKUkt0DZSAAtmZeSA5pbTM4gwQv6AoMxmkwtJEz9yyVkcBqtcQTa8hst6kzKIUZL1mpnoGSHqN0PQaIetNTixB1mph\
        pGdojNBqjKwVAAAA//8CajXGo9XYTM/UHKHVBE2rCR6tlgZ6lkhaTdG0miJrTclPR7FVz9wUodMMTacZtmACAAAA//+CaTUx1LMwQug1R9NrjsdWSz0DJPdaoOm0wGer\
        qZ6lIUKrJZpWS3yhBEwSJkhJAgAAAP//Qk9PhgZ4NJua65kj2WuIkaDwpigTPUuz2lgAAAAA//8DAIt3onjJAgAA
        """)
    /// Go's `gzip.NewWriter`: compress/flate is not zlib, and ours produces nothing like it. `w.Write(bytes); w.Close()`
    static let gzipGo = decode(
        """
        H4sIAAAAAAAA/3zSzUrFMBAF4FcJs65D/idzX0VcXG+vGsRaanfSd5eCkHGEWYbk44TDefyGPsPF+cnBcv24w8XBet8fPEwO3vty3sFL/3o7z+vWb+cLzkh8TO7XBmWD\
        tM99m6WtBb2wUdko7e26S9oihjRoUjQZNFUsNGhWNBuUPbKgRdEi6fz5+icVqQxZlaxWTTlgi8OSsmSkMnrx36Zks1ILchiUFWWrpYyUxST0noI3cCEkkRv+DcpcVEau\
        x9NPAAAA//+Ld6J4yQIAAA==
        """)
    /// Node's `zlib.deflateRawSync`
    static let rawNode = decode(
        """
        fdJNCsIwEAXgq4Ss65D/ZHoVcVHbqkGspXYnvbsUhIwjZDlkPl4Y3vEt8yBboRohp+4xylbIeVwPSjZC3vO0v8lLft32eV5yv2+gg4hbI75WM6upPedloDZ4UMQa\
        Zg21fbdSmgxoW6hl1FaoDeBjoY5RV6GoAAn1jHpKh+f1JxWiLzIwGWpnchqSKTYyGyupCIr8NzGZaqkeUBeKjGLtSg6iI5XgfdKqgn2ESHL1X6GqjXKAYTt9AA==
        """)

    /// `brotli -q 5`
    static let brotli5 = decode(
        """
        H8gCAMRW05Rl0JcFrjRl86U09xN4vp2goWb9d4FkH79wWYYBdlH3cbBZxLsbTG/Yai4vDeF3/PN5x53UET/W9z3e+bX/DcqO+Hp+5DtfpsZa1y/u1CJKmxzpyYTVV4t0Tl\
        Dywj+26x9N9bBAITeYkJEKxdyom6JREqnYPY9HQEmk7M6rMtFQPRVv6Xxv0JmpuiuOhGZyau62KRVR4tZ+6qppgZBKanNftyGi5WkO
        """)
    /// `brotli -q 11`
    static let brotli11 = decode(
        """
        H8gCSKwLbLcYZAptNw1UWGi+1Gn1mmorzS1HqZs3D/xJsjG41OnaS5EzugApl74MK3uD/+oGGmGg2e2bBckWV7TfZBJh80GyIz69YTLH70N7JpaWwbOxNXZ/2DNxSnWMcF\
        Mv26msPnVioL52qNNAEeKX0S4wKbPZcvRSZasKRB365Kb0bdDYo6oVXdC6Sy5yLF36pnbRSa6W0i/G+kS4aNh6RyJ96npdMw==
        """)
    /// `zstd -3` with its checksum
    static let zstd3 = decode(
        """
        KLUv/QRYFQYA4kgcG4C5DWp1Y+Ph+IFGq8JEViIhIcklpFyYDualAYJmvfK6eu+yK///vjZjjvTdE9PltdpVFRKu+xU9s7cupZRaTYwxjpSQ9nLLG+ziad6VH1six1uUxJ\
        MGxSMktnTJOySeRAAGURJbIggjSTwIW7qXi0ApIIAzmzZVbjiBxQpYF1TkuCkQk+3JOssx0QVtI8x1xlvmu+BOZ7q9CmI5Jl30jeCGu50ZKWRd+Ka+C9x1VtvTc44T/RoE\
        R9xdZ/2zuAcxtelP
        """)
    /// `zstd -19 --no-check`
    static let zstdUnchecked = decode(
        """
        KLUv/QBopQUAUogaGIBtA6qAkUL5kxYSTKhNVlZ21yqKxBHZS0MVf5mZ2de7MUNf+M+/LaW3fXcnl2GM7fuU5+j+bQ+h98b33uN1ciIM59p2PKJZMC9WvS98Y0bQIs1Enc\
        noYtqACYF0BYo0hKOLtRXoMZUSAieoESAS4rbWPwNg49RiAxFghIaQQ1RITvycBy7ak0pA66cM75Qm9MvgVv5KgYr4O+AzDxeixh3iv/EYARn+F+XXo0n4VasB
        """)
    /// 1 GiB of zeros: `brotli -q 5`
    static let brotliBomb = decode(
        """
        z///fwAkAOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhw\
        Wge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37f/7//wMg\
        ARCHBaB7/8///38AJADisAB07//5//8PgARAHBaA7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3ft//v\
        //AyABEIcFoHv/z///fwAkAOKwAHTv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje//P//x8ACYA4LADd\
        +3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgD\
        gsAN37f/7//wMgARCHBaB7/8///38AJADisAB07//5//8PgARAHBaA7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8f\
        AAmAOCwA3ft//v//AyABEIcFoHv/z///fwAkAOKwAHTv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje//\
        P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB\
        6N7/8///HwAJgDgsAN37f/7//wMgARCHBaB7/z8=
        """)

    private static func decode(_ base64: String) -> [UInt8] { Data(base64Encoded: base64).map(Array.init) ?? [] }

    /// SplitMix64: the same numbers on every system.
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        init(seed: UInt64) { self.state = seed }

        mutating func next() -> UInt64 {
            self.state &+= 0x9e37_79b9_7f4a_7c15
            var value = self.state
            value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
            value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
            return value ^ value >> 31
        }

        mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }

        /// Words of a small vocabulary with line ends: compresses about as well as prose.
        mutating func text(_ count: Int) -> [UInt8] {
            let words = ["wire", "tape ", "cassette", " 음식 ", "replay", ", ", "origin\n", "\"x\"", "7", "42.5 ", "the ", "upstream\r\n"]
            var text: [UInt8] = []
            while text.count < count { text += Array((words.randomElement(using: &self) ?? "").utf8) }
            return text
        }
    }

    /// 1 MiB of zeros as raw deflate with a full flush: any number of repetitions followed by `03 00` form one stream.
    static let mebibyteOfZeros: [UInt8] =
        [0xec, 0xc1, 0x31, 0x01, 0, 0, 0, 0xc2, 0xa0, 0xf5, 0x4f, 0x6d, 0x08, 0x5f, 0xa0] + [UInt8](repeating: 0, count: 1016)
        + [0x3e, 0x03, 0, 0, 0xff, 0xff]

    /// A zstd frame with blocks of 128 KiB that repeat a zero (RFC 8878, 3.1.1.2).
    static func zstdZeros(mebibytes: Int) -> [UInt8] {
        let block: [UInt8] = [0x02, 0x00, 0x10, 0x00]
        return [0x28, 0xb5, 0x2f, 0xfd, 0x00, 7 << 3] + Array(repeating: block, count: mebibytes * 8).joined() + [0x01, 0, 0]
    }

    static func deflated(_ content: [UInt8], _ parameters: DeflateParameters, _ format: DeflateFormat) -> [UInt8] {
        content.withUnsafeBytes { Deflater.encode($0, parameters, format: format) } ?? []
    }
}
