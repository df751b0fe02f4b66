internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// A part of an answer on its way to the client, without its transfer framing.
enum AnswerItem {
    case interim(ResponseHead)
    case head(ResponseHead, BodyFraming)
    /// Bytes of the body's payload.
    case data(ByteBuffer)
    /// An answer of the proxy itself, as a whole.
    case local(ProxyAnswer, isFinal: Bool)
    /// Bytes for the connection as they are, which break its protocol.
    case raw(ByteBuffer)
    /// Nothing goes on for a time, or ever.
    case stall(TimeAmount?)
    /// What came before is sent at once, in a write of its own.
    case flush
    case end(End)

    enum End {
        /// Complete. The trailers are empty if there are none.
        case finished(HeaderFields, NeverIndexed)
        case cut
        case brokenOff(isReset: Bool)
        /// On HTTP/2 with an error code; of the stream alone, or of the whole connection.
        case reset(code: UInt32, isOfConnection: Bool)
    }
}
