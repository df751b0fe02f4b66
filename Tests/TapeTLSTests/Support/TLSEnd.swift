internal import COpenSSL
import Testing

@testable import TapeTLS

/// One end of a connection in a test: keeps its plaintext and progress, and expects OpenSSL's error queue to be empty after each call.
final class TLSEnd {
    /// The answer of a server's end to a hello.
    struct Answer {
        var leaf: Leaf
        var protocolName: String?
        var refusesProtocols = false
    }

    private var connection: TLSConnection
    /// Nil delays the answer to the hello.
    var answer: Answer?
    private(set) var hello: ClientHello?
    private(set) var plaintext: [UInt8] = []
    /// Bytes to send before the output of the connection.
    private var outbox: [UInt8] = []
    private(set) var progress = TLSProgress.needsInput

    init(_ connection: consuming TLSConnection, answer: Answer? = nil) {
        self.connection = connection
        self.answer = answer
    }

    @discardableResult
    func receive(_ ciphertext: some Collection<UInt8> = []) -> TLSProgress {
        self.progress = Array(ciphertext).withUnsafeBytes { self.take($0) }
        self.expectNoErrors()
        if case .hello(let hello) = self.progress {
            self.hello = hello
            if let answer {
                do throws(TLSFailure) {
                    try self.connection.answer(answer.leaf, protocolName: answer.protocolName, refusesProtocols: answer.refusesProtocols)
                } catch {
                    Issue.record(error)
                }
                self.expectNoErrors()
                self.answer = nil
                return self.receive()
            }
        }
        return self.progress
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> TLSProgress {
        var read: [UInt8] = []
        let progress = self.connection.receive(bytes) { least, fill in
            let space = UnsafeMutableRawBufferPointer.allocate(byteCount: least, alignment: 1)
            defer { space.deallocate() }
            read += space.prefix(fill(space))
        }
        self.plaintext += read
        return progress
    }

    /// - Parameter offered: the room for the ciphertext; nil for as much as it requests.
    func send(_ plaintext: some Collection<UInt8>, room offered: Int? = nil) throws(TLSFailure) {
        defer { self.expectNoErrors() }
        self.outbox += self.connection.takeOutput { Array($0) }
        var sent: [UInt8] = []
        // A closure loses the type of the error.
        let result = Array(plaintext).withUnsafeBytes { bytes -> Result<Void, TLSFailure> in
            do throws(TLSFailure) {
                try self.connection.send(bytes) { wanted, fill in
                    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: offered ?? wanted, alignment: 1)
                    defer { space.deallocate() }
                    sent += space.prefix(fill(space))
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        self.outbox += sent
        // Otherwise the requested room is too small.
        if offered == nil { #expect(self.connection.pendingOutput == 0) }
        try result.get()
    }

    func closeOutput() {
        self.connection.closeOutput()
        self.expectNoErrors()
    }

    @discardableResult
    func inputEnded() -> TLSProgress {
        self.progress = self.connection.inputEnded()
        self.expectNoErrors()
        return self.progress
    }

    func output() -> [UInt8] {
        let count = self.pendingOutput
        let bytes = self.outbox + self.connection.takeOutput { Array($0) }
        self.outbox = []
        #expect(bytes.count == count)
        return bytes
    }

    var text: String { String(decoding: self.plaintext, as: UTF8.self) }
    var isEstablished: Bool { self.connection.isEstablished }
    var isEnded: Bool { self.connection.isEnded }
    var isResumed: Bool { self.connection.isResumed }
    var version: String { self.connection.version }
    var cipher: String { self.connection.cipher }
    var protocolName: String? { self.connection.protocolName }
    var peerCertificates: [CertificateSummary] { self.connection.peerCertificates() }
    var pendingOutput: Int { self.outbox.count + self.connection.pendingOutput }

    var failure: TLSFailure? {
        guard case .failed(let failure) = self.progress else { return nil }
        return failure
    }

    private func expectNoErrors() {
        #expect(ERR_peek_error() == 0)
        ERR_clear_error()
    }
}
