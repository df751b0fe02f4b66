internal import CassetteModel
internal import Foundation

/// The header fields of a request with those that the wire needs (RFC 9112, 3.2 and 6): what every HTTP client adds, and none shows.
enum WireFields {
    static func ofRequest(_ request: TransportRequest) -> HeaderFields {
        var fields = HeaderFields()
        let given = request.headers.headerFields
        if !given.contains("host"), let host = self.authority(of: request.url) { fields.append(name: "Host", value: host) }
        for index in 0..<given.count { fields.append(line: given.line(at: index)) }
        if let size = request.body.size, !given.contains("content-length"), !given.contains("transfer-encoding") {
            fields.append(name: "Content-Length", value: String(size))
        }
        return fields
    }

    private static func authority(of url: URL) -> String? {
        guard let host = url.host(percentEncoded: true) else { return nil }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return url.port.map { "\(name):\($0)" } ?? name
    }
}
