/// A serializer that looks at no more of a request than its method: its fields need not be put into a `URLRequest` for it.
protocol MethodSerializer {}

extension DataResponseSerializer: MethodSerializer {}
extension StringResponseSerializer: MethodSerializer {}
extension JSONResponseSerializer: MethodSerializer {}
extension PropertyListResponseSerializer: MethodSerializer {}
extension DecodableResponseSerializer: MethodSerializer {}
