internal import CassetteModel
internal import Foundation
internal import TapeBytes

/// The data that another request needs to continue a download that ended early: the request, the partial file, and a strong validator,
/// which proves that the rest belongs to it (RFC 9110, 13.1.5 and 14.2).
///
/// Written as JSON. Bytes are counted without content codings, so a response with a content coding cannot be continued.
struct PartialDownload: Codable, Sendable, Hashable {
    /// Later versions may have other members.
    private var version = 1
    private var url: URL
    /// Pairs of a name and a value.
    private var fields: [[String]]
    private var validator: String
    private var path = ""
    /// The number of bytes in the file.
    private(set) var count: Int64 = 0
    /// The size of the whole representation in bytes; nil if it is not known.
    private var total: Int64?

    /// Nil if the rest of the response cannot be requested.
    ///
    /// - Parameters:
    ///   - request: as it was created, without the fields that adapters and cookies add.
    ///   - earlier: the partial download that the response continues; nil if the response is a whole one.
    init?(of request: TransportRequest, _ response: HTTPSession.Response, after earlier: PartialDownload?) {
        guard request.method == "GET", !request.body.isPresent, response.status == 200 || response.status == 206 && earlier != nil,
            earlier != nil || !request.headers.contains(name: "Range"),
            response.headers.values(for: "Content-Encoding").allSatisfy({ $0.lowercased() == "identity" }),
            response.headers.value(for: "Accept-Ranges")?.lowercased() != "none",
            let validator = Self.validator(response) ?? (response.status == 206 ? earlier?.validator : nil)
        else { return nil }
        self.url = request.url
        self.fields = request.headers.filter { field in !Self.ownFields.contains { field.isNamed($0) } }.map { [$0.name, $0.value] }
        self.validator = validator
        self.total = response.status == 206 ? earlier?.total : response.bodySize
    }

    private static let ownFields = ["Range", "If-Range", "Accept-Encoding"]

    /// A strong entity tag, or a modification date that differs from the date of the response (RFC 9110, 8.8.2.2 and 8.8.3).
    private static func validator(_ response: HTTPSession.Response) -> String? {
        if let tag = response.headers.value(for: "ETag") { return tag.hasPrefix("\"") ? tag : nil }
        let modified = response.headers.value(for: "Last-Modified")
        let sent = response.headers.value(for: "Date")
        return sent == nil || sent == modified ? nil : modified
    }

    // MARK: Data

    init(_ data: Data) throws(WiretapeError) {
        do {
            self = try JSONDecoder().decode(PartialDownload.self, from: data)
            guard self.version == 1, self.count > 0, self.fields.allSatisfy({ $0.count == 2 }) else { throw CocoaError(.coderInvalidValue) }
        } catch {
            throw WiretapeError(
                .invalidRequest, "this is no resume data of a Wiretape download (\(data.count) bytes): start the download anew",
                cause: error)
        }
    }

    /// - Returns: nil if nothing has arrived.
    func data(of file: DownloadFile) -> Data? {
        var part = self
        if let (url, count) = file.takePart() {
            (part.path, part.count) = (url.path, count)
        } else if let earlier = file.part {
            part = earlier
        } else {
            return nil
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Does not fail: strings, numbers and a URL can be written as JSON.
        return try? encoder.encode(part)
    }

    // MARK: Continuing

    /// The request for the rest.
    var request: TransportRequest {
        var headers = HTTPSession.Headers(self.fields.map { HTTPSession.Header(name: $0[0], value: $0[1]) })
        headers.add(name: "Accept-Encoding", value: "identity")
        headers.add(name: "Range", value: "bytes=\(self.count)-")
        headers.add(name: "If-Range", value: self.validator)
        return TransportRequest(method: "GET", url: self.url, headers: headers)
    }

    /// Throws if a 206 is not the rest that was requested.
    func check(_ response: HTTPSession.Response) throws(WiretapeError) {
        let range = response.headers.value(for: "Content-Range") ?? ""
        let isPlain = response.headers.values(for: "Content-Encoding").allSatisfy { $0.lowercased() == "identity" }
        if isPlain, self.isRest(range) { return }
        let asked = "bytes from \(self.count)\(self.total.map { " of \($0)" } ?? "")"
        let got = isPlain ? "\"\(PlainText.escape(range.utf8, limit: 80))\"" : "a content coding"
        throw WiretapeError(
            .network, "the response is not the rest of the download: asked for \(asked), got \(got); start the download anew")
    }

    /// Whether `bytes 10-99/100` (RFC 9110, 14.4) begins after the bytes received so far, and reaches to the end.
    private func isRest(_ range: String) -> Bool {
        let parts = range.split(whereSeparator: { " -/".contains($0) })
        guard parts.count == 4, parts[0].lowercased() == "bytes", Int64(parts[1]) == self.count, let last = Int64(parts[2]) else {
            return false
        }
        let total = Int64(parts[3])
        guard let end = total ?? self.total else { return parts[3] == "*" }
        return last == end - 1 && (self.total ?? end) == end
    }

    /// The URL of the file. The folder of an app may have another path after an update.
    func file(in folder: URL) -> URL {
        let file = URL(fileURLWithPath: self.path)
        return FileManager.default.fileExists(atPath: self.path) ? file : folder.appendingPathComponent(file.lastPathComponent)
    }

    /// Opens the file for writing after the bytes received so far.
    func open(in folder: URL) throws(WiretapeError) -> FileHandle {
        let file = self.file(in: folder)
        let size = Self.size(of: file)
        guard let size, size >= self.count else {
            let what = size == nil ? "removed" : "changed"
            throw WiretapeError(
                .file, "\"\(file.path)\", with the first \(self.count) bytes of the download, was \(what): start the download anew")
        }
        do {
            let handle = try FileHandle(forUpdating: file)
            // An earlier attempt to continue may have appended to it.
            try handle.truncate(atOffset: UInt64(self.count))
            try handle.seek(toOffset: UInt64(self.count))
            return handle
        } catch {
            throw WiretapeError(
                .file, "could not write \"\(file.path)\": start the download anew (\(error))", cause: error)
        }
    }

    /// The size in bytes; nil if there is no such file.
    static func size(of file: URL) -> Int64? {
        (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber)?.int64Value
    }
}

extension HTTPSession.Request {
    /// Makes the resume data of a download that ends early; nil if it cannot be continued. Called under the lock.
    func resumption(_ data: RequestData, after error: WiretapeError?) -> (@Sendable () -> Data?)? {
        guard case .file(let file) = self.sink, let error,
            data.options.keepsPart || !error.isCancelled && (error.networkFailure != nil || error.code == .timedOut)
        else { return nil }
        let part: PartialDownload?
        if let request = data.draft?.request, let response = data.response, !data.isRedirect, [200, 206].contains(response.status) {
            part = PartialDownload(of: request, response, after: file.part)
        } else {
            part = file.part
        }
        guard let part else { return nil }
        return { part.data(of: file) }
    }
}
