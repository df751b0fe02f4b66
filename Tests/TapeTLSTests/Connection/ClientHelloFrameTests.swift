import TapeTLS
import Testing

@Suite struct ClientHelloFrameTests {
    private func record(_ content: [UInt8]) -> [UInt8] { [22, 3, 1, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content }

    private let message: [UInt8] = [1, 0, 0, 200] + [UInt8](repeating: 7, count: 200)

    @Test func isWholeWithItsLastOctet() {
        let hello = self.record(self.message)
        for count in 0..<hello.count { #expect(!ClientHelloFrame.isWhole(hello.prefix(count)), "\(count) octets") }
        #expect(ClientHelloFrame.isWhole(hello))
        #expect(ClientHelloFrame.isWhole(hello + [1, 2, 3]))
    }

    @Test func maySpanRecords() {
        let hello = self.record(Array(self.message[..<100])) + self.record(Array(self.message[100...]))
        for count in 0..<hello.count { #expect(!ClientHelloFrame.isWhole(hello.prefix(count)), "\(count) octets") }
        #expect(ClientHelloFrame.isWhole(hello))
    }

    @Test func aHeaderSpreadOverRecordsDoesNotWaitForEver() {
        let hello = self.record(Array(self.message[..<2])) + self.record(Array(self.message[2...]))
        #expect(ClientHelloFrame.isWhole(hello), "OpenSSL joins what is spread more thinly than anybody spreads it")
    }

    @Test func whatIsNoHelloHasNothingToWaitFor() {
        #expect(ClientHelloFrame.isWhole([22, 3, 1, 0, 0]))
        #expect(ClientHelloFrame.isWhole([23, 3, 1, 0, 10]))
        #expect(ClientHelloFrame.isWhole(self.record(Array(self.message[..<100])) + [21, 3, 1, 0, 2]))
    }

    @Test func whatIsTooLongIsNotWaitedFor() {
        let endless = self.record([1, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 16_000))
        #expect(!ClientHelloFrame.isWhole(endless))
        #expect(ClientHelloFrame.isWhole(endless + endless))
    }
}
