@testable import TapeTLS
import Testing
import TapeTestSupport

struct ClientHelloTests {
    private func hello(name: [UInt8]? = nil, protocols: [UInt8]? = nil) -> ClientHello {
        // Copies of the exact size, so that AddressSanitizer detects a read past the end.
        func whole(_ bytes: [UInt8]?) -> UnsafeRawBufferPointer? {
            guard let bytes else { return nil }
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            copy.copyBytes(from: bytes)
            return UnsafeRawBufferPointer(copy)
        }
        let (nameBody, protocolsBody) = (whole(name), whole(protocols))
        defer {
            nameBody?.deallocate()
            protocolsBody?.deallocate()
        }
        return ClientHello(serverNameExtension: nameBody, protocolsExtension: protocolsBody)
    }

    private func nameBody(_ name: [UInt8], type: UInt8 = 0) -> [UInt8] {
        let count = [UInt8(name.count >> 8), UInt8(name.count & 255)]
        let length = name.count + 3
        return [UInt8(length >> 8), UInt8(length & 255), type] + count + name
    }

    @Test func namesAndProtocolsAreRead() {
        let hello = self.hello(
            name: self.nameBody(Array("example.test".utf8)), protocols: [0, 12, 2, 0x68, 0x32, 8] + Array("http/1.1".utf8))
        #expect(hello == ClientHello(serverName: "example.test", protocols: ["h2", "http/1.1"]))
    }

    /// As a client sends them, in one record or several.
    @Test(arguments: [1, 20, 5_000]) func aWholeMessageIsReadFromItsRecords(size: Int) throws {
        var connection = try TLSConnection(
            client: TLSClientContext(trustsSystem: false), peer: TLSPeer(host: "a.test", serverName: "a.test", protocols: ["redis", "h2"]))
        _ = connection.receive(UnsafeRawBufferPointer(start: nil, count: 0)) { _, _ in }
        let record = connection.takeOutput { Array($0) }
        var message = record.dropFirst(5)
        var records: [UInt8] = []
        while !message.isEmpty {
            let piece = message.prefix(size)
            records += [22, 3, 1, UInt8(piece.count >> 8), UInt8(piece.count & 255)] + piece
            message = message.dropFirst(size)
        }
        #expect(ClientHello(records: records) == ClientHello(serverName: "a.test", protocols: ["redis", "h2"]))
        for count in 0..<60 { #expect(ClientHello(records: record.prefix(count)) == nil) }
        #expect(ClientHello(records: Array("GET / HTTP/1.1".utf8)) == nil)
    }

    @Test func namesAreLowerCase() {
        #expect(self.hello(name: self.nameBody(Array("Example.TEST".utf8))).serverName == "example.test")
    }

    @Test func extensionsThatAreNotThereGiveNothing() {
        #expect(self.hello() == ClientHello(serverName: nil, protocols: []))
    }

    @Test(
        arguments: [
            [], [0], [0, 0], [0, 3, 0, 0, 0], [0, 4, 0, 0, 2, 0x61], [0, 4, 0, 255, 255, 0x61], [0, 4, 1, 0, 1, 0x61],
            [0, 4, 0, 0, 1, 0x20],
            [0, 4, 0, 0, 1, 0], [0, 5, 0, 0, 2, 0xC3, 0xA9],
        ] as [[UInt8]])
    func aNameAgainstTheGrammarCountsAsAbsent(body: [UInt8]) {
        #expect(self.hello(name: body).serverName == nil)
    }

    @Test(arguments: ["--insecure", "a-.test", ".test", "a..test", "-a.test", "."])
    func aNameWithAnEmptyLabelOrAHyphenAtItsEndCountsAsAbsent(name: String) {
        #expect(self.hello(name: self.nameBody(Array(name.utf8))).serverName == nil)
    }

    @Test(arguments: ["a-b.test", "_a.test", "a.test.", "xn--a.test", "127.0.0.1", "::1"])
    func otherNamesAreRead(name: String) { #expect(self.hello(name: self.nameBody(Array(name.utf8))).serverName == name) }

    @Test(arguments: [
        "1.2.3", "1", "0x7f.1", "0X7F000001", "a.0x", "1.2.3.4.", "1.2.3.4.5", "256.1.1.1", "a.09", "1.2.3.0x", "127.0.0.01", "1.2.3..",
        "::1.", "a:b", "1:2:3", "fe80::g",
    ])
    func aNameThatLooksLikeAnAddressAndIsNoneCountsAsInvalid(name: String) {
        let hello = self.hello(name: self.nameBody(Array(name.utf8)))
        #expect(hello.serverName == nil && hello.hasInvalidServerName)
    }

    @Test(arguments: ["1a.2", "a.0xg", "0x7f.test", "1.2.3.test", "3com", "a.x0"].map { ($0, $0.hasSuffix(".2")) })
    func digitsElsewhereInANameAreRead(name: String, isRefused: Bool) {
        #expect(self.hello(name: self.nameBody(Array(name.utf8))).serverName == (isRefused ? nil : name))
    }

    /// A name of labels with 63 bytes, and a shorter one at its end.
    private static func long(_ count: Int) -> String { String((0..<count).map { $0 % 64 == 63 ? "." : "a" }) }

    @Test func aNameHas253BytesAtMostAndALabel63() {
        for (name, isRead) in [
            (Self.long(253), true), (Self.long(253) + ".", true), (Self.long(254), false), (Self.long(255), false),
            (Self.long(254) + ".", false),
            (String(repeating: "a", count: 63) + ".test", true), (String(repeating: "a", count: 64) + ".test", false),
            (String(repeating: "a", count: 256), false),
        ] {
            let hello = self.hello(name: self.nameBody(Array(name.utf8)))
            #expect((hello.serverName == name) == isRead && hello.hasInvalidServerName == !isRead, "\(name.utf8.count) bytes")
        }
    }

    @Test(
        arguments: [
            ([], []), ([0], []), ([0, 0], []), ([0, 1, 0], []), ([0, 2, 5, 0x61], []), ([0, 3, 1, 0x61, 9], ["a"]),
            ([0, 2, 1, 0x61], ["a"]),
        ] as [([UInt8], [String])])
    func protocolsEndWhereTheGrammarEnds(body: [UInt8], names: [String]) {
        #expect(self.hello(protocols: body).protocols == names)
    }

    @Test func anyBytesAreReadWithoutHarm() {
        var generator = SeededGenerator(seed: 6066)
        for _ in 0..<5000 {
            let body = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in UInt8(truncatingIfNeeded: generator.next() % 12) }
            let hello = self.hello(name: body, protocols: body)
            #expect(hello.serverName?.isEmpty != true)
            #expect(hello.protocols.allSatisfy { !$0.isEmpty })
        }
    }
}

@Suite struct ClientHelloFrameTests {
    private func record(_ content: [UInt8]) -> [UInt8] { [22, 3, 1, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content }

    private let message: [UInt8] = [1, 0, 0, 200] + [UInt8](repeating: 7, count: 200)

    @Test func isWholeWithItsLastByte() {
        let hello = self.record(self.message)
        for count in 0..<hello.count { #expect(!ClientHelloFrame.isWhole(hello.prefix(count)), "\(count) bytes") }
        #expect(ClientHelloFrame.isWhole(hello))
        #expect(ClientHelloFrame.isWhole(hello + [1, 2, 3]))
    }

    @Test func maySpanRecords() {
        let hello = self.record(Array(self.message[..<100])) + self.record(Array(self.message[100...]))
        for count in 0..<hello.count { #expect(!ClientHelloFrame.isWhole(hello.prefix(count)), "\(count) bytes") }
        #expect(ClientHelloFrame.isWhole(hello))
    }

    @Test func aHeaderSpreadOverRecordsDoesNotWaitForEver() {
        let hello = self.record(Array(self.message[..<2])) + self.record(Array(self.message[2...]))
        #expect(ClientHelloFrame.isWhole(hello), "OpenSSL joins what is spread more thinly than anybody spreads it")
    }

    @Test func bytesThatAreNoHelloAreComplete() {
        #expect(ClientHelloFrame.isWhole([22, 3, 1, 0, 0]))
        #expect(ClientHelloFrame.isWhole([23, 3, 1, 0, 10]))
        #expect(ClientHelloFrame.isWhole(self.record(Array(self.message[..<100])) + [21, 3, 1, 0, 2]))
    }

    @Test func helloThatIsTooLongIsNotAwaited() {
        let endless = self.record([1, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 16_000))
        #expect(!ClientHelloFrame.isWhole(endless))
        #expect(ClientHelloFrame.isWhole(endless + endless))
    }
}
