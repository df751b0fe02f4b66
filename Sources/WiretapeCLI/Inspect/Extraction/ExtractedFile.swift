/// A file that a body or a part was written to.
struct ExtractedFile {
    var path: String
    var exchange: Int
    var message: MessageChoice
    /// Nil for the whole body.
    var part: String?
    var size: Int
    /// What it holds, for people: an image's size, or a media type.
    var words: String?
}
