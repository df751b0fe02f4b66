public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The body as it is; empty if there is none and none is required.
public struct DataResponseSerializer: ResponseSerializer {
    public let dataPreprocessor: any DataPreprocessor
    public let emptyRequestMethods: Set<HTTPMethod>
    public let emptyResponseCodes: Set<Int>

    public init(
        dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205]
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyRequestMethods = emptyRequestMethods
        self.emptyResponseCodes = emptyResponseCodes
    }

    public func serialize(request: URLRequest?, response: HTTPResponse?, data: Data?, error: (any Error)?) throws -> Data {
        try self.body(request: request, response: response, data: data, error: error) ?? Data()
    }
}

extension DownloadResponseSerializer where Self == DataResponseSerializer {
    public static var data: DataResponseSerializer { DataResponseSerializer() }
}

/// The URL of the downloaded file.
public struct URLResponseSerializer: DownloadResponseSerializer {
    public init() {}

    public func serializeDownload(request: URLRequest?, response: HTTPResponse?, fileURL: URL?, error: (any Error)?) throws -> URL {
        if let error { throw error }
        guard let fileURL else {
            throw SerializationError(.unreadableFile, "nothing was downloaded: look at the response's status")
        }
        return fileURL
    }
}

extension DownloadResponseSerializer where Self == URLResponseSerializer {
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}
