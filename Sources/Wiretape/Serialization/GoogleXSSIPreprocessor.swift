public import Foundation

/// Takes off `)]}',` and the line end behind it, with which Google's services keep JSON from being run as a script.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    public init() {}

    public func preprocess(_ data: Data) -> Data { data.starts(with: Self.prefix) ? Data(data.dropFirst(Self.prefix.count)) : data }
}
