internal import ArgumentParser

/// What `wiretape doctor --require` can ask for.
enum CheckupRequirement: String, CaseIterable, ExpressibleByArgument {
    case swift
    case libcurl
    /// A program can be given a mount namespace of its own.
    case namespace
    /// The authority is there and can be used.
    case authority
    /// The authority is among the system's roots.
    case systemTrust = "system-trust"
    /// HTTPS of URLSession can be recorded without changing its URLs.
    case https
}
