internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension URLRequest {
    /// Puts a body in place of what is there, and says its type where the request says none.
    mutating func fillBody(_ body: Data, contentType: String) {
        self.httpBody = body
        if self.value(forHTTPHeaderField: "Content-Type") == nil { self.setValue(contentType, forHTTPHeaderField: "Content-Type") }
    }
}
