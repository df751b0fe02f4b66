internal import NIOCore

/// One end of a tunnel: raw bytes to a client or an origin, after CONNECT or an upgrade. Called on its event loop.
protocol ByteStream: AnyObject {
    var isWritable: Bool { get }
    func write(_ buffer: ByteBuffer)
    /// Sends what was written, at the end of this turn of the event loop.
    func flush()
    /// Reads on, or lets the peer wait.
    func setReading(_ reads: Bool)
    func closeOutput()
    /// Closes once what was written is out.
    ///
    /// - Parameter isCut: without the end that a whole message would have (RFC 8446, 6.1).
    func closeAfterFlush(isCut: Bool)
}
