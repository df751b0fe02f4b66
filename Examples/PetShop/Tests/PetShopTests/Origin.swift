import Foundation

/// Where the shop is, while it is recorded. A replay compares URLs with these, and goes nowhere.
enum Origin {
    static var url: String { ProcessInfo.processInfo.environment["PETSHOP_URL"] ?? "http://127.0.0.1:18180" }
}
