internal import CassetteModel
internal import TapeBytes

/// Writes the body of a form if an archive has only its fields.
struct HARForm {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    /// Nil if there are no fields, or if the contents of a file are missing.
    func body(_ value: SourceValue, type: String?, _ request: inout RecordedRequest) throws(CassetteError) -> ImportedBody? {
        guard let params = value["params"]?.list, !params.isEmpty, params.allSatisfy(Self.isPair) else { return nil }
        let kind = (type ?? "application/x-www-form-urlencoded").lowercased()
        guard kind.hasPrefix("multipart/form-data") else {
            let pairs = params.map { "\(Self.formEncoded($0["name"]))=\(Self.formEncoded($0["value"]))" }
            return ImportedBody(Array(pairs.joined(separator: "&").utf8), .decoded)
        }
        var boundary = MIMEParameters((type ?? "").utf8)["boundary"].map { String(decoding: $0.value, as: UTF8.self) } ?? ""
        if boundary.isEmpty || boundary.utf8.count > 70 || boundary.utf8.contains(where: { $0 < 32 || $0 > 126 }) {
            boundary = "wiretape-\(self.context.entry)"
            request.headers = request.headers.removing("content-type")
            request.headers.append(name: "Content-Type", value: "multipart/form-data; boundary=\(boundary)")
        }
        let charset = params.first { $0["name"]?.string == "_charset_" && $0["fileName"] == nil }?["value"]?.string
        var bytes: [UInt8] = []
        for param in params {
            let file = param["fileName"]?.string
            bytes += Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.quoted(param["name"]?.string ?? ""))\"".utf8)
            if let file { bytes += Array("; filename=\"\(Self.quoted(file))\"".utf8) }
            if let type = param["contentType"]?.string, type.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) {
                bytes += Array("\r\nContent-Type: \(type)".utf8)
            }
            var data = param["value"]?.data ?? []
            if param["_encoding"]?.string == "base64" {
                guard let decoded = LooseBase64.decode(data[...]) else {
                    self.context.lose(.base64, at: param)
                    return nil
                }
                data = decoded
            } else {
                var type = param["contentType"]?.string ?? ""
                if let charset, file == nil { type += "\(type.isEmpty ? "text/plain" : ""); charset=\(charset)" }
                data = self.context.bytes(of: data, type: type)
            }
            // Browsers omit the contents of files.
            if file != nil, param["value"] == nil { return nil }
            bytes += Array("\r\n\r\n".utf8) + data + Array("\r\n".utf8)
        }
        return ImportedBody(bytes + Array("--\(boundary)--\r\n".utf8), .decoded)
    }

    /// Whether it is a name with a text, or without a value. Numbers are refused, because their spelling in the form is unknown.
    private static func isPair(_ param: SourceValue) -> Bool {
        guard let members = param.members, case .text? = param["name"]?.content else { return false }
        return members.allSatisfy { member in
            guard member.name == "value" else { return true }
            switch member.value.content {
            case .text, .bytes, .nothing: return true
            case .word, .bool, .list, .members: return false
            }
        }
    }

    static func quoted(_ text: String) -> String {
        String(
            decoding: text.utf8.flatMap { byte in
                switch byte {
                case UInt8(ascii: "\""): Array("%22".utf8)
                case 13: Array("%0D".utf8)
                case 10: Array("%0A".utf8)
                default: [byte]
                }
            }, as: UTF8.self)
    }

    private static func formEncoded(_ value: SourceValue?) -> String {
        var text: [UInt8] = []
        for byte in value?.data ?? [] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "*"):
                text.append(byte)
            case 32: text.append(UInt8(ascii: "+"))
            default: text += Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Writes cookies that an archive has only as lists.
enum HARCookieText {
    /// Nil if it cannot be part of a field.
    static func pair(_ cookie: SourceValue) -> String? {
        guard let name = cookie["name"]?.string, FieldBuilder.isToken(name), let value = cookie.cookieWord("value") else { return nil }
        return "\(name)=\(value)"
    }

    static func attributes(_ cookie: SourceValue) -> String {
        var text = ""
        if let expires = cookie["expires"]?.string.flatMap({ SourceWords.time($0) }) {
            text += "; Expires=\(SourceWords.httpDate(expires))"
        }
        for (name, member) in [("Path", "path"), ("Domain", "domain"), ("SameSite", "sameSite")] {
            if let value = cookie.cookieWord(member), !value.isEmpty { text += "; \(name)=\(value)" }
        }
        if cookie["secure"]?.bool == true { text += "; Secure" }
        if cookie["httpOnly"]?.bool == true { text += "; HttpOnly" }
        return text
    }
}

extension SourceValue {
    /// A member that can be part of a cookie: without characters that end a value or a line.
    fileprivate func cookieWord(_ name: String) -> String? {
        guard let text = self[name]?.string else { return name == "value" ? "" : nil }
        return text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 && $0 != UInt8(ascii: ";") }) ? text : nil
    }
}
