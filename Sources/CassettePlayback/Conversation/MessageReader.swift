internal import CassetteModel

/// Splits the body of a request into its messages as it arrives, and makes the facets of each message.
///
/// A message is compared like a body that consists of it alone. Needs as much memory as a body of that size: see `PendingBody`. A class,
/// since body readers call back. Not Sendable: one thread at a time.
public final class MessageReader {
    private let make: () -> PendingBody?
    private var frames = GRPCFrames()
    private var message: PendingBody?
    /// Bytes of the message so far.
    public private(set) var size = 0

    init(_ make: @escaping () -> PendingBody?) { self.make = make }

    /// Only splits: the facets of each message are empty.
    public static var uncompared: MessageReader { MessageReader { nil } }

    /// Whether a message has begun and not ended.
    public var isWithin: Bool { self.frames.isWithin }

    /// Takes bytes from the front of a non-empty buffer, up to the end of one message.
    ///
    /// - Returns: how many bytes it took, and whether the message is complete. If it is, call `finish` next.
    public func take(_ bytes: UnsafeRawBufferPointer) -> (count: Int, isComplete: Bool) {
        let piece = self.frames.take(bytes)
        if piece.isFirst {
            self.message = self.make()
            self.size = 0
        }
        self.size += piece.count
        self.message?.push(UnsafeRawBufferPointer(rebasing: bytes[..<piece.count]))
        return (piece.count, piece.isLast)
    }

    /// The facets of a message that is complete, or was cut off by the end of the body.
    public func finish() -> BodyFacets {
        self.size = 0
        return self.message.take()?.finish() ?? .none
    }
}

extension PendingRequest {
    /// Reads the body's wire bytes as they come, message by message.
    public func messages() -> MessageReader { MessageReader { self.body() } }
}
