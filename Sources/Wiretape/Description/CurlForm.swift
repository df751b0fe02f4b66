internal import CassetteModel
internal import Foundation

/// A multipart form as `-F` arguments of curl, which makes a boundary of its own.
///
/// Texts are given as they are and files by their paths. What curl has no argument for (header fields of one's own, octets in memory with a
/// file name, streams) makes no such form, or is to be saved as a file first.
struct CurlForm: Sendable, Hashable {
    let arguments: [String]
    let notes: [String]

    /// - Parameters:
    ///   - text: what is shown in place of a text field's octets.
    ///   - savesRest: whether what curl has no argument for is to be saved by the reader; without, there is no such form then.
    init?(_ form: MultipartFormData, text: (Int) -> [UInt8]?, savesRest: Bool) {
        var arguments: [String] = []
        var notes: [String] = []
        for (index, part) in form.parts.enumerated() {
            let disposition = ContentDisposition(part.headers)
            let name = disposition?.name.flatMap { $0.contains("=") || !ShellText.isPlain($0) || $0.contains("\n") ? nil : $0 }
            if let name, let argument = Self.argument(part, name, disposition?.filename, text(index)) {
                arguments.append(argument)
                continue
            }
            guard savesRest else { return nil }
            let place = "part-\(index + 1)"
            notes.append("part \(index + 1) of the form has \(part.source.length) octets: save them as \"\(place)\"")
            let file = disposition?.filename.map { ";filename=\(Self.inQuotes($0))" } ?? ""
            arguments.append("-F \(ShellText.quoted("\(name ?? place)=@\"\(place)\"\(file)"))")
        }
        self.arguments = arguments
        self.notes = notes
    }

    /// Nil where curl has none for such a part.
    private static func argument(_ part: FormDataPart, _ name: String, _ filename: String?, _ text: [UInt8]?) -> String? {
        switch (part.source, filename) {
        case (.octets, nil):
            guard part.headers.count == 1, let text, let value = String(validating: text, as: UTF8.self), ShellText.isPlain(value) else {
                return nil
            }
            return "--form-string \(ShellText.quoted("\(name)=\(value)"))"
        case (.file(let file), let filename?):
            guard part.headers.count == 2, let type = part.headers.first("content-type"),
                type.utf8.allSatisfy({ HTTPHeaders.isTokenCharacter($0) || $0 == UInt8(ascii: "/") }),
                ShellText.isPlain(filename + file.path)
            else { return nil }
            return "-F \(ShellText.quoted("\(name)=@\(self.inQuotes(file.path));filename=\(self.inQuotes(filename));type=\(type)"))"
        case (.octets, _), (.file, _), (.stream, _): return nil
        }
    }

    /// As curl's form arguments have it.
    private static func inQuotes(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
