import Foundation

/// A pet with pictures, as a form.
public struct PetUpload: Sendable {
    public struct Picture: Sendable {
        public var fileName: String
        public var png: Data

        public init(fileName: String, png: Data) {
            self.fileName = fileName
            self.png = png
        }
    }

    /// What the shop says it has got.
    public struct Receipt: Codable, Sendable {
        public struct Part: Codable, Sendable, Hashable {
            public var name: String
            public var filename: String?
            public var type: String?
            public var size: Int
            public var text: String?
        }

        public var parts: [Part]
    }

    public var name: String
    public var note: String
    public var pictures: [Picture]

    public init(name: String, note: String, pictures: [Picture]) {
        self.name = name
        self.note = note
        self.pictures = pictures
    }
}
