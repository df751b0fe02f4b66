public import Foundation

/// What came of a request whose answer is collected in memory.
public typealias DataResponse<Value: Sendable> = ContentResponse<Data, Value>

extension ContentResponse where Content == Data {
    /// The whole body, free of codings; nil where no answer came.
    public var data: Data? { self.outcome.body }
}
