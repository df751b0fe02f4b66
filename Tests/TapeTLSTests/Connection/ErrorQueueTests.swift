internal import COpenSSL
import Testing

@testable import TapeTLS

struct ErrorQueueTests {
    private func raise(_ library: Int32, _ reason: Int32) {
        ERR_new()
        withVaList([]) { ERR_vset_error(library, reason, nil, $0) }
    }

    @Test func reasonsComeOldestFirstInTheWordsOfOpenSSL() {
        ErrorQueue.clear()
        self.raise(Int32(ERR_LIB_SSL), SSL_R_NO_SHARED_CIPHER)
        self.raise(Int32(ERR_LIB_SSL), SSL_R_WRONG_VERSION_NUMBER)
        #expect(ErrorQueue.drain() == ["no shared cipher", "wrong version number"])
    }

    @Test func drainingLeavesNothing() {
        self.raise(Int32(ERR_LIB_SSL), SSL_R_NO_SHARED_CIPHER)
        _ = ErrorQueue.drain()
        #expect(ERR_peek_error() == 0)
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func clearingLeavesNothing() {
        self.raise(Int32(ERR_LIB_SSL), SSL_R_NO_SHARED_CIPHER)
        ErrorQueue.clear()
        #expect(ERR_peek_error() == 0)
    }

    @Test func anErrorWithoutTextHasItsNumber() {
        ErrorQueue.clear()
        self.raise(200, 4000)
        #expect(ErrorQueue.drain() == ["error:64000FA0:lib(200)::reason(4000)"])
    }

    @Test func manyErrorsAreBounded() {
        ErrorQueue.clear()
        for _ in 0..<100 { self.raise(Int32(ERR_LIB_SSL), SSL_R_NO_SHARED_CIPHER) }
        #expect((1...16).contains(ErrorQueue.drain().count))
        #expect(ERR_peek_error() == 0)
    }
}
