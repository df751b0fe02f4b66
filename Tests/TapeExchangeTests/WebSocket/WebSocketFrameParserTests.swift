internal import CassetteModel
internal import TapeBytes
internal import TapeExchange
internal import Testing

@Suite struct WebSocketFrameParserTests {
    /// The output of a parser, independent of the pieces of its input: the joined, unmasked payload.
    private struct Transcript: Equatable {
        struct Frame: Equatable {
            var head: WebSocketFrameHead
            var payload: [UInt8] = []
            var isWhole = false
        }
        var frames: [Frame] = []
        var problem: WebSocketProblem?
        var isBetweenMessages = true

        /// Feeds the bytes in pieces of the given sizes, and the rest in one piece.
        static func of(
            _ bytes: [UInt8], _ stand: WebSocketStand = .watcher, _ reserved: WebSocketReservedBits = .zero, pieces: [Int] = []
        ) -> Transcript {
            var parser = WebSocketFrameParser(stand, reserved: reserved)
            var transcript = Transcript()
            var start = 0
            for size in pieces + [bytes.count] where transcript.problem == nil {
                let piece = Array(bytes[start..<min(bytes.count, start + size)])
                start += piece.count
                do {
                    try piece.withUnsafeBytes { buffer in
                        try parser.consume(buffer) { event in
                            switch event {
                            case .head(let head): transcript.frames.append(Frame(head: head))
                            case .payload(let range, let mask):
                                #expect(!range.isEmpty)
                                let piece = UnsafeRawBufferPointer(rebasing: buffer[range])
                                let last = transcript.frames.count - 1
                                if let mask {
                                    mask.append(piece, to: &transcript.frames[last].payload)
                                } else {
                                    transcript.frames[last].payload += piece
                                }
                            case .end: transcript.frames[transcript.frames.count - 1].isWhole = true
                            }
                        }
                    }
                } catch {
                    transcript.problem = error as? WebSocketProblem
                }
            }
            transcript.isBetweenMessages = parser.isBetweenMessages
            return transcript
        }
    }

    private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex.filter { $0 != " " }.utf8) ?? [] }

    private func frame(
        _ opcode: WebSocketOpcode, _ text: String, isFinal: Bool = true, reserved: UInt8 = 0, mask: WebSocketMask? = nil
    ) -> Transcript.Frame {
        let head = WebSocketFrameHead(isFinal: isFinal, reserved: reserved, opcode: opcode, mask: mask, length: text.utf8.count)
        return Transcript.Frame(head: head, payload: Array(text.utf8), isWhole: true)
    }

    /// RFC 6455, 5.7.
    @Test func examplesOfTheStandardAreFrames() {
        let mask = WebSocketMask(0x3d21_fa37)
        for (hex, frames) in [
            ("81 05 48656c6c6f", [self.frame(.text, "Hello")]),
            ("81 85 37fa213d 7f9f4d5158", [self.frame(.text, "Hello", mask: mask)]),
            ("01 03 48656c 80 02 6c6f", [self.frame(.text, "Hel", isFinal: false), self.frame(.continuation, "lo")]),
            ("89 05 48656c6c6f 8a 85 37fa213d 7f9f4d5158", [self.frame(.ping, "Hello"), self.frame(.pong, "Hello", mask: mask)]),
        ] {
            #expect(Transcript.of(self.bytes(hex)) == Transcript(frames: frames))
        }
    }

    @Test func lengthsOfAllSizesAreRead() {
        for (head, length) in [("82 7e 0100", 256), ("82 7f 0000000000010000", 65_536), ("82 7d", 125), ("82 7e ffff", 65_535)] {
            let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            let transcript = Transcript.of(self.bytes(head) + payload)
            #expect(transcript.frames.first?.head.length == length)
            #expect(transcript.frames.first?.payload == payload)
        }
        let endless = Transcript.of(self.bytes("82 7f 7fffffffffffffff 00"))
        #expect(endless.frames.first?.head.length == Int.max && endless.problem == nil)
    }

    @Test(arguments: [
        ("83 00", WebSocketProblem.Code.opcode, "opcode 3"), ("8b 00", .opcode, "opcode 11"), ("c1 00", .reservedBits, "(4)"),
        ("a1 00", .reservedBits, "(2)"), ("09 00", .control, "in fragments"), ("88 7e 0080", .control, "more than 125"),
        ("80 00", .continuation, "has not begun"), ("01 00 81 00", .continuation, "within another"),
        ("01 00 80 00 80 00", .continuation, "has not begun"), ("82 7f 8000000000000000", .length, "63 bits"),
    ])
    func invalidFrameEndsTheParsingWithItsOffset(_ hex: String, _ code: WebSocketProblem.Code, _ reason: String) {
        let valid = self.bytes("81 01 61")
        for before in [[], valid] {
            let transcript = Transcript.of(before + self.bytes(hex))
            #expect(transcript.problem?.code == code)
            #expect(transcript.problem?.message.contains(reason) == true, "\(transcript.problem?.message ?? "")")
            if !hex.hasPrefix("01") { #expect(transcript.problem?.message.hasPrefix("the frame at byte \(before.count) ") == true) }
        }
    }

    @Test func problemStays() {
        var parser = WebSocketFrameParser(.watcher)
        for bytes: [UInt8] in [[0x83], [0x81, 0]] {
            #expect(throws: WebSocketProblem.self) {
                try bytes.withUnsafeBytes { try parser.consume($0) { _ in Issue.record("an event") } }
            }
        }
    }

    @Test func reservedBitOfDeflateBelongsToTheFirstFrameOfAMessage() {
        #expect(Transcript.of(self.bytes("41 00 80 00"), .watcher, .deflate).problem == nil)
        for hex in ["01 00 c0 00", "c9 00", "e1 00", "a1 00"] {
            #expect(Transcript.of(self.bytes(hex), .watcher, .deflate).problem?.code == .reservedBits)
            #expect(Transcript.of(self.bytes(hex), .watcher, .any).problem == nil)
        }
    }

    @Test func endsInsistOnMasksAndShortLengths() {
        let (plain, masked) = (self.bytes("81 01 61"), self.bytes("81 81 00000000 61"))
        let cases: [([UInt8], WebSocketStand, WebSocketProblem.Code?)] = [
            (plain, .watcher, nil), (plain, .client, nil), (plain, .server, .mask), (masked, .watcher, nil), (masked, .client, .mask),
            (masked, .server, nil), (self.bytes("82 7e 007d"), .client, .length), (self.bytes("82 7e 007d"), .watcher, nil),
            (self.bytes("82 7f 000000000000ffff"), .client, .length), (self.bytes("82 7f 000000000000ffff"), .watcher, nil),
            (self.bytes("82 7e 007e"), .client, nil), (self.bytes("82 7f 0000000000010000"), .client, nil),
        ]
        for (bytes, stand, code) in cases { #expect(Transcript.of(bytes, stand).problem?.code == code, "\(stand) \(bytes)") }
    }

    @Test(arguments: [
        "81 05 48656c6c6f 89 00 01 03 48656c 8a 85 37fa213d 7f9f4d5158 80 02 6c6f", "02 00 00 00 80 00 88 02 03e8",
        "82 7e 0080 0102", "82 fe 0004 01020304 00000000 81 00", "82 7f 0000000000000003 010203", "81 01 61 83 00",
        "82 ff 8000000000000000", "81 80 01020304 80 00",
    ])
    func everySplitGivesTheSame(_ hex: String) {
        let bytes = self.bytes(hex)
        let whole = Transcript.of(bytes)
        for first in 0...bytes.count {
            #expect(Transcript.of(bytes, pieces: [first]) == whole)
            for second in 0...(bytes.count - first) { #expect(Transcript.of(bytes, pieces: [first, second]) == whole) }
        }
        #expect(Transcript.of(bytes, pieces: Array(repeating: 1, count: bytes.count)) == whole)
    }

    @Test func endOfAMessageIsBetweenMessages() {
        for (hex, isBetween) in [
            ("", true), ("81", false), ("81 00", true), ("01 00", false), ("01 00 89 00", false), ("01 00 80 00", true),
        ] {
            #expect(Transcript.of(self.bytes(hex)).isBetweenMessages == isBetween, "\(hex)")
        }
    }
}

@Suite struct WebSocketMaskTests {
    @Test func maskingTwiceGivesTheSameAndEveryBeginningIsTheRightOne() {
        let mask = WebSocketMask(0x0403_0201)
        #expect(mask.bytes == [1, 2, 3, 4])
        for count in [0, 1, 3, 4, 31, 32, 33, 70] {
            let plain = (0..<count).map { UInt8($0) }
            let masked = plain.enumerated().map { $1 ^ UInt8($0 % 4 + 1) }
            for start in 0...count {
                var output: [UInt8] = []
                plain[start...].withUnsafeBytes { mask.turned(by: start).append($0, to: &output) }
                #expect(output == Array(masked[start...]))
            }
        }
    }
}
