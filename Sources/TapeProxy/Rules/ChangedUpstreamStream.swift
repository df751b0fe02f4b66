internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TrafficRules

/// Sends a request to its origin as traffic rules change it. The exchange that forwards the request knows of no change.
///
/// Holds a body that is edited until its end. Not Sendable: lives on its event loop.
final class ChangedUpstreamStream: UpstreamStream {
    /// Bytes of a body that is edited; a longer one goes on as it is.
    static let heldLimit = 16 << 20

    private let base: any UpstreamStream
    private let change: RequestChange
    private let proxy: ProxyContext
    private weak var exchange: (any UpstreamExchange)?
    private var head: (head: RequestHead, target: RequestTarget, framing: BodyFraming)?
    private var held: [BodyPiece] = []
    private var heldSize = 0
    /// The client's own body is not sent.
    private var isReplaced = false
    /// The connection belongs to another exchange, or is closed.
    private var isOver = false

    init(_ base: any UpstreamStream, _ change: RequestChange, _ proxy: ProxyContext) {
        self.base = base
        self.change = change
        self.proxy = proxy
    }

    var version: HTTPVersion { self.base.version }
    var isWritable: Bool { self.base.isWritable }
    var number: Int? { self.base.number }

    func takePeerNames() -> [String] { self.base.takePeerNames() }

    func take(_ exchange: any UpstreamExchange) {
        self.exchange = exchange
        self.base.take(exchange)
    }

    func use() -> (info: ConnectionInfo, timing: DialTiming?) { self.base.use() }
    func flush() { self.base.flush() }
    func setReading(_ reads: Bool) { self.base.setReading(reads) }
    func shrinkReads() { self.base.shrinkReads() }
    func bind(to client: Int) { self.base.bind(to: client) }

    func release(by client: Int) {
        self.isOver = true
        self.base.release(by: client)
    }

    func cancel() {
        self.isOver = true
        self.base.cancel()
    }

    func cancelAfterFlush() {
        self.isOver = true
        self.base.cancelAfterFlush()
    }

    func send(_ head: RequestHead, target: RequestTarget, framing: BodyFraming) {
        let changed = self.change.changed(head)
        if let body = self.change.wholeBody {
            var whole = changed.head
            whole.fields = whole.fields.removing("transfer-encoding").removing("content-length").removing("expect")
            guard framing != .none || !body.isEmpty else { return self.base.send(whole, target: changed.target, framing: framing) }
            whole.fields.append(name: "Content-Length", value: "\(body.count)")
            self.isReplaced = true
            self.base.send(whole, target: changed.target, framing: .length(body.count))
            return self.base.send(BodyPiece(bytes: ByteBuffer(bytes: body), isLast: true))
        }
        guard self.change.bodyEdit != nil, framing != .none else {
            return self.base.send(changed.head, target: changed.target, framing: framing)
        }
        self.head = (changed.head, changed.target, framing)
    }

    func send(_ piece: BodyPiece) {
        guard !self.isReplaced else { return }
        guard let (head, target, framing) = self.head else { return self.base.send(piece) }
        self.held.append(piece)
        self.heldSize += piece.bytes.readableBytes
        guard self.heldSize <= Self.heldLimit else {
            self.change.bodyIsTooLong()
            self.head = nil
            self.base.send(head, target: target, framing: framing)
            for piece in self.held { self.base.send(piece) }
            self.held = []
            return
        }
        guard piece.isLast else { return }
        self.head = nil
        var body: [UInt8] = []
        body.reserveCapacity(self.heldSize)
        for piece in self.held { body.append(contentsOf: piece.payload.readableBytesView) }
        self.held = []
        guard BodyWork.isLong(body.count, head.fields) else { return self.send(self.change.edited(body, head), target) }
        let edit = { @Sendable [change = self.change, body] in change.edited(body, head) }
        let editing = self.proxy.computing.run(on: self.proxy.loop, edit)
        editing.assumeIsolated().whenComplete { [weak self] result in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            switch result {
            case .success(let edited):
                self.send(edited, target)
                self.base.flush()
            case .failure:
                let exchange = self.exchange
                self.cancel()
                exchange?.originFailed(
                    Failure(kind: .cancelled, message: "the request's body could not be edited: too much else waits to be done"),
                    isUnprocessed: false)
            }
        }
    }

    private func send(_ edited: (head: RequestHead, body: [UInt8]), _ target: RequestTarget) {
        self.base.send(edited.head, target: target, framing: .length(edited.body.count))
        self.base.send(BodyPiece(bytes: ByteBuffer(bytes: edited.body), isLast: true))
    }
}
