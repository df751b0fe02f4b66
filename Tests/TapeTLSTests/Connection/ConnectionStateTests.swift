internal import COpenSSL
@testable import TapeTLS
import Testing

struct ConnectionStateTests {
    @Test func isFoundThroughTheConnectionItIsAttachedTo() throws {
        let context = try TLSClientContext(trustsSystem: false)
        let ssl = try #require(SSL_new(context.pointer))
        defer { SSL_free(ssl) }
        let state = ConnectionState(keyLog: nil)
        #expect(ConnectionState.of(ssl) == nil)
        state.attach(to: ssl)
        #expect(ConnectionState.of(ssl) === state)
    }

    @Test func noConnectionHasNoState() {
        #expect(ConnectionState.of(nil) == nil)
    }
}

struct CiphertextBufferTests {
    private func append(_ bytes: [UInt8], to buffer: inout CiphertextBuffer) {
        bytes.withUnsafeBytes { buffer.append($0) }
    }

    @Test func appendedBytesComeOutInOrder() {
        var buffer = CiphertextBuffer()
        var wanted: [UInt8] = []
        for length in [0, 1, 511, 1, 4096, 0, 70_000] {
            let piece = [UInt8](repeating: UInt8(length % 251), count: length)
            self.append(piece, to: &buffer)
            wanted += piece
            let count = buffer.count
            #expect(count == wanted.count)
        }
        let taken = buffer.take { Array($0) }
        #expect(taken == wanted)
    }

    @Test func isEmptyAfterItWasTaken() {
        var buffer = CiphertextBuffer()
        self.append([1, 2, 3], to: &buffer)
        _ = buffer.take { $0.count }
        let count = buffer.count
        #expect(count == 0)
        let second = buffer.take { Array($0) }
        #expect(second.isEmpty)
        self.append([4], to: &buffer)
        let third = buffer.take { Array($0) }
        #expect(third == [4])
    }

    @Test func roomThatWasReservedIsNoContent() {
        var buffer = CiphertextBuffer()
        self.append([1], to: &buffer)
        buffer.reserve(100_000)
        self.append([2], to: &buffer)
        let taken = buffer.take { Array($0) }
        #expect(taken == [1, 2])
    }

    @Test func reservedRoomStaysWhereItIs() {
        var buffer = CiphertextBuffer()
        buffer.reserve(5000)
        self.append([1], to: &buffer)
        let before = withUnsafeBytes(of: &buffer) { $0.load(as: UInt.self) }
        self.append([UInt8](repeating: 2, count: 4999), to: &buffer)
        let after = withUnsafeBytes(of: &buffer) { $0.load(as: UInt.self) }
        #expect(before == after)
    }
}

struct ConnectionBIOTests {
    @Test func readsTheInputInPiecesAndAsksForMore() throws {
        let state = ConnectionState(keyLog: nil)
        let bio = try #require(ConnectionBIO.make(state))
        defer { BIO_free(bio) }
        let input: [UInt8] = [1, 2, 3, 4, 5]
        input.withUnsafeBytes { bytes in
            state.input = bytes
            var target = [UInt8](repeating: 0, count: 3)
            #expect(BIO_read(bio, &target, 3) == 3)
            #expect(target == [1, 2, 3])
            #expect(BIO_read(bio, &target, 3) == 2)
            #expect(target == [4, 5, 3])
            #expect(BIO_test_flags(bio, BIO_FLAGS_SHOULD_RETRY) == 0)
            #expect(BIO_read(bio, &target, 3) == -1)
            #expect(BIO_test_flags(bio, BIO_FLAGS_SHOULD_RETRY) != 0)
            #expect(state.input.isEmpty)
        }
    }

    @Test func writesToTheOutput() throws {
        let state = ConnectionState(keyLog: nil)
        let bio = try #require(ConnectionBIO.make(state))
        defer { BIO_free(bio) }
        #expect(BIO_write(bio, [1, 2, 3] as [UInt8], 3) == 3)
        #expect(BIO_write(bio, [4] as [UInt8], 1) == 1)
        #expect(state.output.take { Array($0) } == [1, 2, 3, 4])
    }

    @Test func flushingIsAllItIsAskedFor() throws {
        let state = ConnectionState(keyLog: nil)
        let bio = try #require(ConnectionBIO.make(state))
        defer { BIO_free(bio) }
        #expect(BIO_ctrl(bio, BIO_CTRL_FLUSH, 0, nil) == 1)
        #expect(BIO_ctrl(bio, BIO_CTRL_RESET, 0, nil) == 0)
    }
}
