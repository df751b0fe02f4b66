internal import Foundation

/// What a load can see of its request's body.
enum VisibleBody {
    case none
    case data(Data)
    case file(URL)
    case stream(InputStream)
    /// Its delegate makes the stream when asked.
    case ofDelegate
    /// There is one, and the system does not show it.
    case hidden
}
