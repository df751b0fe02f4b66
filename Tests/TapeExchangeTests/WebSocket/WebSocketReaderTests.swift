internal import CassetteModel
internal import TapeBytes
internal import TapeExchange
import TapeTestSupport
internal import Testing

@Suite struct WebSocketReaderTests {
    private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex.filter { $0 != " " }.utf8) ?? [] }

    private func message(_ kind: TapedMessage.Kind, _ text: String, _ change: (inout TapedMessage) -> Void = { _ in }) -> TapedMessage {
        var message = TapedMessage(kind)
        message.bytes = Array(text.utf8)
        message.size = message.bytes.count
        change(&message)
        return message
    }

    private static let deflate = WebSocketAgreement(deflate: PerMessageDeflate())
    private static let forgetting = WebSocketAgreement(deflate: PerMessageDeflate(serverForgets: true))

    @Test func fragmentsAreOneMessageAndControlFramesComeBetween() {
        let transcript = WebSocketTranscript.of(self.bytes("01 03 48656c 89 01 21 00 00 80 02 6c6f 88 02 03e8"))
        #expect(
            transcript.messages == [
                self.message(.ping, "!"), self.message(.text, "Hello") { $0.frames = [3, 0, 2] },
                self.message(.close, "") {
                    $0.bytes = [3, 0xe8]; $0.size = 2
                },
            ])
    }

    /// RFC 7692, 7.2.3.1 and 7.2.3.2: a message in two fragments, then one that refers back to it.
    @Test func deflatedMessagesAreInflated() {
        let transcript = WebSocketTranscript.of(self.bytes("41 03 f248cd 80 04 c9c90700 c1 05 f200110000"), agreement: Self.deflate)
        #expect(
            transcript.messages == [
                self.message(.text, "Hello") {
                    $0.frames = [3, 4]; $0.isDeflated = true
                }, self.message(.text, "Hello") { $0.isDeflated = true },
            ])
    }

    @Test func truncatedMessageIsReportedWithItsReceivedPart() {
        for (hex, agreement) in [("01 03 48656c 80 02 6c", WebSocketAgreement()), ("41 03 f248cd 80 04 c9c9", Self.deflate)] {
            let transcript = WebSocketTranscript.of(self.bytes(hex), agreement: agreement)
            #expect(transcript.messages.count == 1)
            #expect(transcript.messages.first?.isComplete == false)
            #expect(transcript.problem == nil)
        }
    }

    @Test func problemIsReportedOnceAfterTheEarlierMessages() {
        let transcript = WebSocketTranscript.of(self.bytes("01 03 48656c 83 00 81 01 61"), pieces: [6, 1])
        #expect(
            transcript.messages == [
                self.message(.text, "Hel") {
                    $0.frames = [3]; $0.isComplete = false
                }
            ])
        #expect(transcript.problem?.message == "the frame at byte 5 has the opcode 3, which RFC 6455 reserves")
    }

    @Test func messageThatCannotBeInflatedTakesThoseThatLookBackWithIt() {
        let hex = "c1 03 ffffff c1 07 f248cdc9c90700 81 01 61"
        var messages = WebSocketTranscript.of(self.bytes(hex), agreement: Self.deflate).messages
        #expect(messages.count == 3)
        #expect(messages[0].isComplete == false && messages[0].note?.hasPrefix("cannot be inflated further: ") == true)
        #expect(messages[1].bytes == self.bytes("f248cdc9c90700") && messages[1].reserved == 4 && messages[1].isDeflated)
        #expect(messages[1].note?.hasPrefix("not inflated: ") == true)
        #expect(messages[2] == self.message(.text, "a"))
        messages = WebSocketTranscript.of(self.bytes(hex), agreement: Self.forgetting).messages
        #expect(messages[1] == self.message(.text, "Hello") { $0.isDeflated = true })
    }

    @Test func bitsThatAreNotUnderstoodAreKeptAndSaidSo() {
        let transcript = WebSocketTranscript.of(self.bytes("a1 01 61 c2 01 62"), agreement: WebSocketAgreement(unknown: ["x-shout"]))
        #expect(transcript.messages.map(\.reserved) == [2, 4])
        #expect(transcript.messages.map(\.isDeflated) == [false, false])
        for message in transcript.messages { #expect(message.note?.contains("'x-shout'") == true) }
    }

    @Test func messageWithTwoProblemsNamesBoth() {
        let agreement = WebSocketAgreement(deflate: PerMessageDeflate(), unknown: ["x-shout"])
        let message = WebSocketTranscript.of(self.bytes("e1 03 ffffff"), agreement: agreement).messages.first
        #expect(message?.note?.hasPrefix("kept as it was sent: ") == true)
        #expect(message?.note?.contains("; cannot be inflated further: ") == true)
    }

    @Test func longMessagesComeInBlocksAndNothingOfThemIsHeld() {
        let payload = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        for (mask, side) in [(nil, WebSocketSide.server), (WebSocketMask(0x0102_0304), .client)] {
            var wire = self.bytes("82") + (mask == nil ? [127] : [255]) + self.bytes("00000000000493e0") + (mask?.bytes ?? [])
            if let mask { payload.withUnsafeBytes { mask.append($0, to: &wire) } } else { wire += payload }
            let transcript = WebSocketTranscript.of(wire, side, pieces: Array(repeating: 1_000, count: 320))
            #expect(
                transcript.messages == [
                    self.message(.binary, "") {
                        $0.bytes = payload; $0.size = 300_000; $0.isSpilled = true
                    }
                ])
            #expect(transcript.largestBlock > 0 && transcript.largestBlock <= 2 * WebSocketReader.blockSize)
        }
    }

    @Test func messageThatInflatesTooFarIsDroppedButLaterOnesAreNot() throws {
        guard var deflater = MessageDeflater(windowBits: 15, keepsWindow: true) else { throw TestProblem("no deflater") }
        func frame(_ coded: [UInt8]) -> [UInt8] {
            [0xc2, 127] + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: coded.count >> $0) } + coded
        }
        func deflate(_ bytes: [UInt8], times: Int) -> [UInt8] {
            var coded: [UInt8] = []
            for index in 1...times {
                #expect(bytes.withUnsafeBytes { deflater.push($0, isLast: index == times) { coded.append(contentsOf: $0) } })
            }
            return coded
        }
        let bomb = frame(deflate([UInt8](repeating: 0, count: 1 << 20), times: 80))
        // It refers back to the previous message.
        let next = frame(deflate([UInt8](repeating: 0, count: 300) + [1, 2, 3], times: 1))
        let transcript = WebSocketTranscript.of(
            bomb + next + [0x81, 1, 97], agreement: Self.deflate, pieces: Array(repeating: 4_096, count: 30))
        #expect(transcript.messages.count == 3)
        let first = try #require(transcript.messages.first)
        #expect(!first.isComplete && first.note == "not kept further: what it is inflated to is more than is allowed")
        #expect(first.size <= WebSocketReader.inflatedLimit && first.bytes.count == first.size)
        #expect(first.size > WebSocketReader.inflatedLimit - (1 << 20))
        #expect(transcript.messages[1].bytes == [UInt8](repeating: 0, count: 300) + [1, 2, 3] && transcript.messages[1].isComplete)
        #expect(transcript.messages[2] == self.message(.text, "a"))
        #expect(transcript.largestBlock <= 2 * WebSocketReader.blockSize)
    }

    /// 4 MiB of zeros in 4,081 bytes: one block in which a bit or two encode 258 bytes, denser than any text.
    @Test func theDensestMessageIsReadToItsEnd() throws {
        let coded = self.bytes("ecc101010000008220ffaf6e484001") + [UInt8](repeating: 0, count: 4_063) + self.bytes("7c1b00")
        let wire = [0xc2, 126, UInt8(coded.count >> 8), UInt8(coded.count & 255)] + coded
        let message = try #require(WebSocketTranscript.of(wire, agreement: Self.deflate).messages.first)
        #expect(message.size / coded.count >= 1_000 && message.size == message.bytes.count)
        #expect(message.isComplete && message.note == nil)
    }

    @Test func listOfFramesHasALimit() throws {
        let wire = [1, 1, 97] + Array(repeating: [UInt8(0), 1, 98], count: 5_000).joined() + [0x80, 0]
        let message = try #require(WebSocketTranscript.of(wire).messages.first)
        #expect(message.size == 5_001 && message.isComplete && message.isThinned)
        #expect(message.frames.count == WebSocketMessage.frameLimit)
        #expect(message.frames.reduce(0, +) == 5_001)
    }

    @Test(arguments: [
        ("01 03 48656c 89 01 21 00 00 80 02 6c6f 88 02 03e8", false), ("81 85 37fa213d 7f9f4d5158 89 80 01020304", false),
        ("41 03 f248cd 80 04 c9c90700 c1 05 f200110000", true), ("c1 03 ffffff c1 07 f248cdc9c90700 81 01 61", true),
        ("c1 87 01020304 f34acecdc8cb0700 c1 80 01020304 c1 01 00", true), ("01 03 48656c 83 00 81 01 61", false),
        ("c1 07 f248cdc9c9", true),
    ])
    func everySplitGivesTheSame(_ hex: String, _ isDeflated: Bool) {
        let bytes = self.bytes(hex)
        let agreement = isDeflated ? Self.deflate : WebSocketAgreement()
        let whole = WebSocketTranscript.of(bytes, agreement: agreement)
        #expect(!whole.messages.isEmpty)
        for packs in [false, true] {
            for first in 0...bytes.count {
                for second in 0...(packs ? 1 : bytes.count - first) {
                    #expect(WebSocketTranscript.of(bytes, agreement: agreement, pieces: [first, second], packs: packs) == whole)
                }
            }
            let single = Array(repeating: 1, count: bytes.count)
            #expect(WebSocketTranscript.of(bytes, agreement: agreement, pieces: single, packs: packs) == whole)
        }
    }
}
