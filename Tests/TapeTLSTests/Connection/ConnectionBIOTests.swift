internal import COpenSSL
import Testing

@testable import TapeTLS

struct ConnectionBIOTests {
    @Test func readsTheInputInPiecesAndAsksForMore() throws {
        let state = ConnectionState(keyLog: nil)
        let bio = try #require(ConnectionBIO.make(state))
        defer { BIO_free(bio) }
        let input: [UInt8] = [1, 2, 3, 4, 5]
        input.withUnsafeBytes { octets in
            state.input = octets
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
