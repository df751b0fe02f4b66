internal import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPResponse {
    /// A view that joins duplicates and, on Linux, rewrites names of fields; nil where Foundation cannot make one.
    public var httpURLResponse: HTTPURLResponse? {
        HTTPURLResponse(url: self.url, statusCode: self.status, httpVersion: "HTTP/1.1", headerFields: self.headers.dictionary)
    }

    /// Octets of the body to come, where they are known: those of a coded body are not.
    var bodySize: Int64? {
        guard !self.headers.contains(name: "Content-Encoding") else { return nil }
        return self.headers.value(for: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
