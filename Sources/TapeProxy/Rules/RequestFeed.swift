internal import NIOCore
internal import TapeExchange

/// The body of a request between the client and the exchange that answers: held while it is decided which rules apply, then handed on as
/// it is asked for, no faster than some rates.
///
/// Not Sendable: lives on its event loop.
final class RequestFeed {
    private var pieces = CircularBuffer<BodyPiece>()
    /// Bytes held.
    private(set) var size = 0
    /// Bytes of the body that have come, without transfer framing.
    private(set) var contentSize = 0
    private var isAsked = false
    private var isDelivering = false
    /// The last piece has come.
    private(set) var hasEnd = false
    private var timer: Scheduled<Void>?
    private let client: any ClientStream
    var buckets: [TokenBucket] = []
    /// Takes the pieces.
    var deliver: ((BodyPiece) -> Void)?

    init(client: any ClientStream) { self.client = client }

    private var proxy: ProxyContext { self.client.peer.session }

    var hasInput: Bool { !self.pieces.isEmpty || self.client.hasInput }
    var isWaiting: Bool { self.timer != nil }

    func put(_ piece: BodyPiece) {
        self.pieces.append(piece)
        self.size += piece.bytes.readableBytes
        self.contentSize += piece.payload.readableBytes
        if piece.isLast { self.hasEnd = true }
        self.run()
    }

    func setReading(_ reads: Bool) {
        self.isAsked = reads
        self.run()
    }

    func stop() {
        self.timer?.cancel()
        self.timer = nil
        self.pieces.removeAll()
        self.deliver = nil
    }

    /// The bytes that have come so far, without transfer framing.
    func content() -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(self.size)
        for piece in self.pieces { content.append(contentsOf: piece.payload.readableBytesView) }
        return content
    }

    private func run() {
        guard self.deliver != nil, !self.isDelivering else { return }
        self.isDelivering = true
        self.deliverPieces()
        self.isDelivering = false
        // The client may put more pieces before this returns.
        if !self.hasEnd, self.deliver != nil { self.client.setReading(self.isAsked && self.timer == nil && self.pieces.isEmpty) }
    }

    private func deliverPieces() {
        while self.isAsked, self.timer == nil, let deliver, let piece = self.pieces.first {
            if !self.buckets.isEmpty, piece.bytes.readableBytes > 0 {
                self.wait(for: piece)
                continue
            }
            self.pieces.removeFirst()
            self.size -= piece.bytes.readableBytes
            deliver(piece)
        }
    }

    /// Hands the next bytes on when the rates allow it: a part of the piece if its framing can be taken apart.
    private func wait(for piece: BodyPiece) {
        var next = piece
        let portion = self.buckets.map(\.portion).min() ?? Int.max
        if piece.events == nil, piece.bytes.readableBytes > portion {
            var rest = piece
            guard let slice = rest.bytes.readSlice(length: portion) else { return }
            next = BodyPiece(bytes: slice)
            self.pieces[self.pieces.startIndex] = rest
        } else {
            self.pieces.removeFirst()
        }
        let now = self.proxy.now
        let due = self.buckets.map { $0.reserve(next.payloadSize, now: now) }.max() ?? now
        self.size -= next.bytes.readableBytes
        guard due > now else {
            self.deliver?(next)
            return
        }
        self.timer = self.proxy.loop.assumeIsolated().scheduleTask(in: due - now) { [weak self] in
            guard let self, self.timer != nil else { return }
            self.proxy.readClock()
            self.timer = nil
            self.deliver?(next)
            self.run()
        }
    }
}
