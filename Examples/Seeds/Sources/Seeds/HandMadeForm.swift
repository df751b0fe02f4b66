import Foundation

/// A multipart body put together by hand, in the spellings that are found in articles and apps.
public struct HandMadeForm: Sendable {
    public enum Spelling: String, Sendable, CaseIterable {
        case standard
        case lineEndBeforeFirstBoundary
        case noLineEndAtEnd
        case twoLineEndsAfterFile
        case quotedBoundary
    }

    public struct File: Sendable {
        public var name: String
        public var fileName: String
        public var type: String
        public var data: Data

        public init(name: String, fileName: String, type: String, data: Data) {
            self.name = name
            self.fileName = fileName
            self.type = type
            self.data = data
        }
    }

    public var spelling: Spelling
    /// A new one for each form.
    public let boundary = "Boundary-\(UUID().uuidString)"
    public var fields: [(name: String, value: String)]
    public var files: [File]

    public init(_ spelling: Spelling = .standard, fields: [(name: String, value: String)] = [], files: [File] = []) {
        self.spelling = spelling
        self.fields = fields
        self.files = files
    }

    public var contentType: String {
        self.spelling == .quotedBoundary
            ? "multipart/form-data; boundary=\"\(self.boundary)\"" : "multipart/form-data; boundary=\(self.boundary)"
    }

    public var body: Data {
        var body = Data()
        func append(_ text: String) { body.append(Data(text.utf8)) }
        if self.spelling == .lineEndBeforeFirstBoundary { append("\r\n") }
        for field in self.fields {
            append("--\(self.boundary)\r\n")
            append("Content-Disposition: form-data; name=\"\(field.name)\"\r\n\r\n")
            append("\(field.value)\r\n")
        }
        for file in self.files {
            append("--\(self.boundary)\r\n")
            append("Content-Disposition: form-data; name=\"\(file.name)\"; filename=\"\(file.fileName)\"\r\n")
            append("Content-Type: \(file.type)\r\n\r\n")
            body.append(file.data)
            append(self.spelling == .twoLineEndsAfterFile ? "\r\n\r\n" : "\r\n")
        }
        append("--\(self.boundary)--")
        if self.spelling != .noLineEndAtEnd { append("\r\n") }
        return body
    }
}

/// What the server has found in a form.
public struct Receipt: Codable, Sendable {
    public struct Part: Codable, Sendable, Equatable {
        public var name: String?
        public var filename: String?
        public var type: String?
        public var size: Int
    }

    public var receipt: String
    public var at: Double
    public var parts: [Part]
}
