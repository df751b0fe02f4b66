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

/// Leaves a body as it is.
public struct PassthroughPreprocessor: DataPreprocessor {
    public init() {}

    public func preprocess(_ data: Data) -> Data { data }
}

/// Takes off `)]}',` and the line end behind it, with which Google's services keep JSON from being run as a script.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    public init() {}

    public func preprocess(_ data: Data) -> Data { data.starts(with: Self.prefix) ? Data(data.dropFirst(Self.prefix.count)) : data }
}
