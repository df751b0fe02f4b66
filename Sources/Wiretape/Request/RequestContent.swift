internal import CassetteStore
internal import Foundation

/// A body with its type, and the file that it lies in, where that is to be removed.
struct RequestContent: Sendable {
    var body: RequestBody
    /// The value of Content-Type; nil where nothing is known.
    var type: String?
    var spool: TemporaryFile?

    static var none: RequestContent { RequestContent(body: .none) }

    init(body: RequestBody, type: String? = nil, spool: TemporaryFile? = nil) {
        self.body = body
        self.type = type
        self.spool = spool
    }

    /// A file of the caller's, which is read when it goes out.
    init(file: URL) throws {
        guard file.isFileURL else {
            throw WiretapeError(.requestBody, "\"\(file.absoluteString)\" is no file: make its URL with URL(fileURLWithPath:)")
        }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
            throw WiretapeError(.requestBody, "there is no file \"\(file.path)\": give the path of one that can be read")
        }
        guard !isFolder.boolValue else { throw WiretapeError(.requestBody, "\"\(file.path)\" is a folder: give the path of a file in it") }
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        guard let size = (attributes[.size] as? NSNumber)?.intValue, FileManager.default.isReadableFile(atPath: file.path) else {
            throw WiretapeError(.requestBody, "the file \"\(file.path)\" cannot be read: give the path of one that can")
        }
        self.init(body: .file(file, size: size))
    }

    init(spooling stream: InputStream, folder: URL?) throws {
        let file = try stream.spooled(in: folder)
        self.init(body: .file(URL(fileURLWithPath: file.path), size: file.size), spool: file)
    }

    /// A form: in memory up to the threshold, in a file beyond it.
    init(_ form: MultipartFormData, threshold: Int, folder: URL?) throws {
        switch try form.encode(threshold: threshold, folder: folder?.path) {
        case .memory(let octets): self.init(body: .data(Data(octets)), type: form.contentType)
        case .file(let file):
            self.init(body: .file(URL(fileURLWithPath: file.path), size: file.size), type: form.contentType, spool: file)
        }
    }
}
