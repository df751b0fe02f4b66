import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The result of a request, in one line.
enum Outcome {
    static func text(_ error: any Error) -> String {
        let error = error as NSError
        return error.domain == TransportFailure.errorDomain ? "fails: \(error.localizedDescription)" : "error \(error.domain) \(error.code)"
    }

    static func text(_ data: Data, _ response: URLResponse) -> String {
        let http = response as? HTTPURLResponse
        return "\(http?.statusCode ?? 0) \(response.url?.path ?? "no URL") \"\(String(decoding: data, as: UTF8.self))\""
    }

    static func of(_ work: () async throws -> (Data, URLResponse)) async -> String {
        do {
            let (data, response) = try await work()
            return Self.text(data, response)
        } catch {
            return Self.text(error)
        }
    }
}
