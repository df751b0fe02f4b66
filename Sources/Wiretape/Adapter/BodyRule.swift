internal import Foundation

/// Says where the body of a request is, from what the request and its task show.
enum BodyRule {
    /// What the task keeps by itself, as far as that can be seen.
    enum Kept {
        /// It cannot be looked at.
        case unknown
        case none
        /// The delegate is to be asked.
        case unmade
        case data(Data)
        case file(URL)
        case stream(InputStream)
    }

    /// - Parameters:
    ///   - data: the request's own body.
    ///   - stream: the request's own stream.
    ///   - isUpload: the task takes its body from elsewhere: on Linux the request's own is not sent then.
    ///   - kept: looks at the task; asked only where the request does not say it.
    ///   - hasOwnUploads: the platform shows the body of an upload in the request: Apple's does.
    static func body(
        data: Data?, stream: InputStream?, isUpload: Bool, hasOwnUploads: Bool, kept: () -> Kept
    ) -> VisibleBody {
        if !isUpload || hasOwnUploads {
            if let data, !data.isEmpty { return .data(data) }
            if let stream { return .stream(stream) }
            return isUpload ? .hidden : .none
        }
        switch kept() {
        case .unknown: return .hidden
        case .none: return .none
        case .unmade: return .ofDelegate
        case .data(let data): return .data(data)
        case .file(let url): return .file(url)
        case .stream(let stream): return .stream(stream)
        }
    }
}
