/// Whose URLSession it is: what it takes, and how it says what failed, differs.
enum URLSessionPlatform: Sendable, CaseIterable {
    case apple, linux

    static var current: Self {
        #if canImport(FoundationNetworking)
        .linux
        #else
        .apple
        #endif
    }
}
