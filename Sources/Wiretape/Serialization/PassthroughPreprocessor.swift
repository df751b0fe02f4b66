public import Foundation

/// Leaves a body as it is.
public struct PassthroughPreprocessor: DataPreprocessor {
    public init() {}

    public func preprocess(_ data: Data) -> Data { data }
}
