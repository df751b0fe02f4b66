public import Foundation
public import Wiretape

public typealias DeflateRequestCompressor = HTTPSession.RequestCompressor

extension HTTPSession.RequestInterceptor where Self == HTTPSession.RequestCompressor {
    public static var deflateCompressor: HTTPSession.RequestCompressor { HTTPSession.RequestCompressor() }

    public static func deflateCompressor(
        duplicateHeaderBehavior: HTTPSession.RequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ body: Data) -> Bool = { _ in true }
    ) -> HTTPSession.RequestCompressor {
        HTTPSession.RequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}
