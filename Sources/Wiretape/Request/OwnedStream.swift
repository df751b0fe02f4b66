internal import Foundation

/// A stream that was given to a request for good.
// SAFETY: touched once, by the one task that spools it; its giver was told that it is not theirs any more.
struct OwnedStream: @unchecked Sendable {
    let stream: InputStream

    init(_ stream: InputStream) { self.stream = stream }
}
