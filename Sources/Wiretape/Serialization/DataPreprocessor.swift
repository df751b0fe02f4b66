public import Foundation

/// Changes a body before it is serialized.
public protocol DataPreprocessor: Sendable {
    func preprocess(_ data: Data) throws -> Data
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
    public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
