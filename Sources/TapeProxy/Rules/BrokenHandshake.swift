internal import NIOCore

/// A tunnel whose TLS a rule breaks: opens the tunnel, and answers the client's first bytes with an alert (RFC 8446, 6.2).
///
/// Not Sendable: lives on its event loop.
final class BrokenHandshake: TunnelExchange {
    private let client: any ClientStream
    private let request: IncomingRequest
    private let alert: UInt8
    let deadline: NIODeadline
    let takesBytes = true
    let isIdle = true

    init(client: any ClientStream, request: IncomingRequest, alert: UInt8) {
        self.client = client
        self.request = request
        self.alert = alert
        self.deadline = client.peer.session.stallDeadline
    }

    func start() {
        self.client.write(self.request.opening.accepted)
        self.client.flush()
        self.client.setReading(true)
    }

    func clientBytes(_ input: inout ByteBuffer) {
        // Other protocols than TLS have no alerts.
        let isTLS = input.getInteger(at: input.readerIndex, as: UInt8.self) == 22
        input.moveReaderIndex(to: input.writerIndex)
        // A record with the content type alert, of TLS 1.2, with two bytes: fatal, and why.
        if isTLS { self.client.write(ByteBuffer(bytes: [21, 3, 3, 0, 2, 2, self.alert])) }
        self.client.flush()
        self.client.closeAfterFlush(isCut: false)
    }

    func clientLeft(_ reason: String) {}

    func deadlinePassed() { self.client.close() }
}
