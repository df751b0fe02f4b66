import TapeTLS

/// One end of a TLS connection instead of a raw one: the same blocking calls, on plaintext.
///
/// Not Sendable: belongs to one thread.
final class TLSStream: RawConnection {
    /// The server's answer to a hello.
    typealias Answer = (ClientHello) -> (leaf: Leaf, protocolName: String?)

    private var tls: TLSConnection
    private let answer: Answer?
    /// At the server's end, the client's hello.
    private(set) var hello = ClientHello()
    /// The first ciphertext that was received, and the first that was sent.
    private(set) var firstHeard: [UInt8]
    private(set) var firstSaid: [UInt8] = []
    private var plaintext: [UInt8] = []
    private var unsent: [UInt8] = []

    /// - Parameter answer: for a server's end.
    init(_ tls: consuming TLSConnection, replacing other: RawConnection, answer: Answer? = nil) {
        self.tls = tls
        self.answer = answer
        self.firstHeard = []
        super.init(replacing: other, unread: &self.firstHeard)
    }

    // MARK: Handshake

    /// Performs the handshake. If it fails, throws the failure after sending the alert.
    func handshake() throws {
        try self.feed(self.firstHeard)
        while !self.tls.isEstablished {
            guard let ciphertext = try super.next() else {
                throw TLSFailure(cause: self.end == .reset ? .reset : .closed, message: "the peer ended the connection in the handshake")
            }
            try self.hear(ciphertext)
        }
    }

    /// Sends the first message of a handshake, and nothing after it.
    func sendHello() throws { try self.feed([]) }

    private func hear(_ ciphertext: [UInt8]) throws {
        if self.firstHeard.isEmpty { self.firstHeard = ciphertext }
        try self.feed(ciphertext)
    }

    private func feed(_ ciphertext: [UInt8]) throws {
        let progress = ciphertext.withUnsafeBytes { self.receive($0) }
        try self.flush()
        switch progress {
        case .needsInput: break
        case .hello(let hello):
            self.hello = hello
            guard let answer else { throw RawError("a client was asked for an answer") }
            let (leaf, protocolName) = answer(hello)
            try self.tls.answer(leaf, protocolName: protocolName, refusesProtocols: protocolName == nil)
            try self.feed([])
        case .ended: self.end = .closed
        case .failed(let failure): throw failure
        }
    }

    private func receive(_ ciphertext: UnsafeRawBufferPointer) -> TLSProgress {
        var bytes: [UInt8] = []
        let progress = self.tls.receive(ciphertext) { least, fill in
            bytes += [UInt8](unsafeUninitializedCapacity: least) { buffer, count in count = fill(UnsafeMutableRawBufferPointer(buffer)) }
        }
        self.plaintext += bytes
        return progress
    }

    // MARK: Plaintext

    override func next() throws -> [UInt8]? {
        while self.plaintext.isEmpty {
            guard self.end == nil else { return nil }
            guard let ciphertext = try super.next() else {
                if self.end == .closed { self.end = .truncated }
                return nil
            }
            try self.hear(ciphertext)
        }
        defer { self.plaintext = [] }
        return self.plaintext
    }

    /// Accepts all the bytes. Returns 0 if their ciphertext could not be sent, and keeps it.
    override func send(_ bytes: [UInt8], milliseconds: Int) throws -> Int {
        self.unsent += self.tls.takeOutput { Array($0) }
        try bytes.withUnsafeBytes { plaintext in
            try self.tls.send(plaintext) { least, fill in
                let ciphertext = [UInt8](unsafeUninitializedCapacity: least) { $1 = fill(UnsafeMutableRawBufferPointer($0)) }
                self.unsent += ciphertext
            }
        }
        return try self.flush(milliseconds: milliseconds) ? bytes.count : 0
    }

    /// Sends the bytes that could not be sent before.
    ///
    /// - Returns: whether nothing is left.
    @discardableResult
    func flush(milliseconds: Int = RawConnection.patience * 1000) throws -> Bool {
        self.unsent += self.tls.takeOutput { Array($0) }
        if self.firstSaid.isEmpty { self.firstSaid = self.unsent }
        self.unsent.removeFirst(try super.send(self.unsent, milliseconds: milliseconds))
        return self.unsent.isEmpty
    }

    // MARK: Shutdown

    /// Ends this side with close_notify.
    override func closeOutput() {
        self.tls.closeOutput()
        _ = try? self.flush()
        super.closeOutput()
    }

    /// Ends this side with close_notify, and leaves the underlying connection open.
    func sayGoodbye() throws {
        self.tls.closeOutput()
        try self.flush()
    }

    /// Ends this side without close_notify, as an aborting peer does.
    func cutOutput() { super.closeOutput() }

    // MARK: Result of the handshake

    var version: String { self.tls.version }
    var protocolName: String? { self.tls.protocolName }
    var isResumed: Bool { self.tls.isResumed }
    var peerCertificates: [CertificateSummary] { self.tls.peerCertificates() }
}
