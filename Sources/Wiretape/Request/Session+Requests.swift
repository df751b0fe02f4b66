internal import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension Session {
    /// Changes a request that has been made, before adapters see it.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    // MARK: Data

    /// A request whose answer is collected in memory.
    public func request(
        _ url: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.dataRequest(.plain(url, method, headers, requestModifier), interceptor)
    }

    /// A request with parameters: in the query, or in the body, as the encoder and the method say.
    public func request<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.dataRequest(.encoded(url, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) }, interceptor)
    }

    /// A request with a dictionary of parameters, as the encoding says.
    public func request(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters?, encoding: any ParameterEncoding,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.dataRequest(.encoded(url, method, headers, requestModifier) { try encoding.encode($0, with: parameters) }, interceptor)
    }

    /// A `URLRequest`, or what a router makes one of.
    public func request(_ request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil) -> DataRequest {
        self.dataRequest(self.converted(request), interceptor)
    }

    // MARK: Download

    /// A request whose answer goes into a file; into the temporary folder, where it stays, if no destination is given.
    public func download(
        _ url: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        self.downloadRequest(.plain(url, method, headers, requestModifier), interceptor, destination)
    }

    /// A download with parameters, as the encoder says.
    public func download<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        self.downloadRequest(
            .encoded(url, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) }, interceptor, destination)
    }

    public func download(
        _ request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        self.downloadRequest(self.converted(request), interceptor, destination)
    }

    // MARK: Stream

    /// A request whose answer is handed on as it comes.
    public func stream(
        _ url: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> StreamRequest {
        StreamRequest(core: self.core, source: .plain(url, method, headers, requestModifier), interceptor: interceptor)
    }

    /// A streamed request with parameters, as the encoder says.
    public func stream<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> StreamRequest {
        StreamRequest(
            core: self.core, source: .encoded(url, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) },
            interceptor: interceptor)
    }

    public func stream(_ request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil) -> StreamRequest {
        StreamRequest(core: self.core, source: self.converted(request), interceptor: interceptor)
    }

    // MARK: Making

    private func dataRequest(_ source: RequestSource, _ interceptor: (any RequestInterceptor)?) -> DataRequest {
        DataRequest(core: self.core, source: source, interceptor: interceptor, sink: .memory)
    }

    private func downloadRequest(
        _ source: RequestSource, _ interceptor: (any RequestInterceptor)?, _ destination: DownloadRequest.Destination?
    ) -> DownloadRequest {
        let file = DownloadFile(folder: self.configuration.temporaryFolder, destination: destination)
        return DownloadRequest(core: self.core, source: source, interceptor: interceptor, sink: .file(file))
    }

    /// A stream for a body is spooled, which takes time.
    private func converted(_ request: any URLRequestConvertible) -> RequestSource {
        let hasStream = (request as? URLRequest).map { $0.httpBodyStream != nil } ?? true
        return .converted(request, isBlocking: hasStream, spoolFolder: self.configuration.temporaryFolder)
    }
}
