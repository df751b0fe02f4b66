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
    /// The server ends its side of a tunnel.
    case closeOutput
    case end(End)

    enum End {
        /// Complete. The trailers are empty if there are none.
        case finished(HeaderFields, NeverIndexed)
        case cut
        /// A tunnel ends as it should.
        case closed
        case brokenOff(isReset: Bool)
        /// On HTTP/2 with an error code; of the stream alone, or of the whole connection.
        case reset(code: UInt32, isOfConnection: Bool)
    }
}

extension AnswerItem {
    /// Bytes in pieces, each sent by itself.
    static func slices(_ bytes: ByteBuffer, _ size: Int, _ delay: Duration) -> [AnswerItem] {
        var items: [AnswerItem] = []
        var rest = bytes
        while let slice = rest.readSlice(length: min(size, rest.readableBytes)), slice.readableBytes > 0 {
            items.append(.data(slice))
            items.append(delay > .zero ? .stall(.nanoseconds(delay.nanoseconds)) : .flush)
        }
        return items
    }
}
