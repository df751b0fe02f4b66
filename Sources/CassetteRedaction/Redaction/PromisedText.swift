internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Decides whether bytes are the text that their media type promises.
enum PromisedText {
    /// How much of a content is examined.
    private static let headSize = 4096

    /// Whether the media type is that of JSON, XML, a form or any other text.
    static func isPromised(by type: MediaType) -> Bool {
        type.kind == .json || type.kind == .text || type.isForm || type.declaresJSON || type.declaresXML
    }

    /// Whether bytes under such a type are not UTF-8, so that they may be something else. Texts in other charsets are not, either.
    static func mayBeOther(_ content: UnsafeRawBufferPointer, _ type: MediaType) -> Bool {
        guard self.isPromised(by: type) else { return false }
        var validator = UTF8Validator()
        return validator.firstInvalid(in: UnsafeRawBufferPointer(rebasing: content.prefix(self.headSize))) != nil
    }

    /// What to note about bytes that are not searched as a text, although their media type promises one; nil for texts, and for bytes that have
    /// no names of secrets, such as an image.
    static func note(_ content: UnsafeRawBufferPointer, _ type: MediaType) -> OpaqueContent? {
        guard self.mayBeOther(content, type), !SurveyText(bytes: content, hasMore: false, isView: false).isReadable,
            MagicNumber.fileExtension(of: content) == nil
        else { return nil }
        return .sealed("bytes that are not the text that \"\(type.essence)\" promises")
    }
}
