// The filters of a distribution. They are in device memory, not arguments, so that one captured graph
// serves every request.
#pragma once

struct Filters {
    float temperature;         // > 0
    float filter_temperature;  // temperature for top_p and min_p: temperature, or 1 if it is applied last
    float top_p;               // in (0,1]; 1: off
    float min_p;               // in [0,1); 0: off
    int top_k;                 // 0: off
};
