internal import CassetteModel

/// Cuts the body of a request into its messages as it comes, and makes what each is compared by.
///
/// A message is compared as a body that has it alone. Holds what a body of its size holds: see `PendingBody`. A class, since those that read
/// bodies call back. Not Sendable: one thread at a time.
public final class MessageReader {
    private let make: () -> PendingBody?
    private var frames = GRPCFrames()
    private var message: PendingBody?
    /// Bytes of the message so far.
    public private(set) var size = 0

    init(_ make: @escaping () -> PendingBody?) { self.make = make }

    /// Only cuts: what a message is compared by is always the same.
    public static var uncompared: MessageReader { MessageReader { nil } }

    /// Whether a message has begun and not ended.
    public var isWithin: Bool { self.frames.isWithin }

    /// Takes the first of these bytes, those of one message at most; there is at least one.
    ///
    /// - Returns: how many it took, and whether the message is complete: then `finish` comes next.
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

    /// What the message is compared by that is complete, or was cut by the end of the body.
    public func finish() -> BodyFacets {
        self.size = 0
        return self.message.take()?.finish() ?? .none
    }
}

extension PendingRequest {
    /// Takes the body's wire bytes as they come, message by message.
    public func messages() -> MessageReader { MessageReader { self.body() } }
}
