internal import CassetteFormat
internal import CassetteModel
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// Compresses the bodies of requests, with `Content-Encoding: deflate` (RFC 9110, 8.4.1.2).
    ///
    /// Compresses only bodies in memory. A file or a stream is sent unchanged. A cassette holds the decoded body, and matching compares
    /// that.
    public struct RequestCompressor: RequestInterceptor {
        /// The treatment of a request that already has a Content-Encoding.
        public enum DuplicateHeaderBehavior: Sendable, Hashable {
            /// The request fails with `DuplicateHeaderError`.
            case error
            /// The body is compressed, and `deflate` replaces the old value.
            case replace
            /// The body is sent unchanged.
            case skip
        }

        /// A request that was to be compressed already has a Content-Encoding.
        public struct DuplicateHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
            public let value: String

            public var description: String {
                "the request has \"Content-Encoding: \(self.value)\", so its body is not compressed: remove the field, or use .skip or .replace"
            }
        }

        /// There was not enough memory to compress a body.
        public struct CompressionError: Error, Hashable, Sendable, CustomStringConvertible {
            public var description: String { "there is not enough memory to compress the body: send it without the compressor" }
        }

        public let duplicateHeaderBehavior: DuplicateHeaderBehavior
        public let shouldCompressBodyData: @Sendable (_ body: Data) -> Bool

        /// - Parameter shouldCompressBodyData: by default each body that is not empty.
        public init(
            duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
            shouldCompressBodyData: @escaping @Sendable (_ body: Data) -> Bool = { _ in true }
        ) {
            self.duplicateHeaderBehavior = duplicateHeaderBehavior
            self.shouldCompressBodyData = shouldCompressBodyData
        }

        public func adapt(_ request: URLRequest, for context: RequestContext) async throws -> URLRequest {
            guard let body = request.httpBody, !body.isEmpty, self.shouldCompressBodyData(body) else { return request }
            if let value = request.value(forHTTPHeaderField: "Content-Encoding") {
                switch self.duplicateHeaderBehavior {
                case .error: throw DuplicateHeaderError(value: value)
                case .replace: break
                case .skip: return request
                }
            }
            guard let coded = body.withUnsafeBytes({ Deflater.encode($0, DeflateParameters(level: 6), format: .zlib) }) else {
                throw CompressionError()
            }
            var request = request
            request.httpBody = Data(coded)
            request.setValue("deflate", forHTTPHeaderField: "Content-Encoding")
            if request.value(forHTTPHeaderField: "Content-Length") != nil {
                request.setValue("\(coded.count)", forHTTPHeaderField: "Content-Length")
            }
            return request
        }
    }
}

extension HTTPSession.RequestInterceptor where Self == HTTPSession.RequestCompressor {
    /// Compresses each body.
    public static var compressing: HTTPSession.RequestCompressor { HTTPSession.RequestCompressor() }
}
