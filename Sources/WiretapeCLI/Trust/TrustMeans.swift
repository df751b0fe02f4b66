internal import ArgumentParser

/// How the program that is run comes to trust the authority.
enum TrustMeans: String, CaseIterable, ExpressibleByArgument {
    /// `namespace` where the system permits it, else `env`.
    case auto
    /// By the variables that name a file of roots, which some libraries do not read.
    case env
    /// By them, and in a mount namespace of its own in which the system's roots have the authority among them.
    case namespace
}
